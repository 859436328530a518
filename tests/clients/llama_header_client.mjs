// llama.cpp's own reader of GGUF headers, through the binding that node-llama-cpp loads models with. llama_header_client.mjs PACKAGES FILE...
// A JSON object a line and file, written before the next is begun: {"file", "log": [lines of level error]}. A file that it kills the process
// with (an assertion of ggml, a division by zero) has no line, and neither have those after it.
import path from "node:path";
import {pathToFileURL} from "node:url";

const [packages, ...files] = process.argv.slice(2);
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(path.join(packages, "node_modules/node-llama-cpp/dist/index.js")).href);
const errors = [];
let ended;  // called with the last line that a failed load logs
const logger = (level, text) => {
  if (level !== LlamaLogLevel.error && level !== LlamaLogLevel.fatal) return;
  errors.push(text.trim());
  if (text.includes("failed to load model") && text.includes("llama_model_load_from_file_impl")) ended?.();
};
const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1, logger});
for (const file of files) {
  errors.length = 0;
  const logged = new Promise((resolve) => (ended = resolve));
  const model = new llama._bindings.AddonModel(file, {gpuLayers: 0, useMmap: true});
  if (await model.init()) throw new Error(`${file}: loaded: none of these files is a whole model`);
  await logged;
  console.log(JSON.stringify({file: path.basename(file), log: [...errors]}));
}
process.exit(0);
