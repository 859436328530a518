// A user's program: llama.cpp completes a prompt on the CPU, greedily. llama_client.mjs PACKAGES MODEL PROMPT
// on one thread, since several wait for each other by spinning, for minutes on a machine that is busy;
// prints {"answer"} and ends with 0, or {"error"} and ends with 7.
import path from "node:path";
import {pathToFileURL} from "node:url";

const [packages, modelPath, prompt] = process.argv.slice(2);
const {getLlama, LlamaCompletion} = await import(pathToFileURL(path.join(packages, "node_modules/node-llama-cpp/dist/index.js")).href);
try {
  const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: 1});
  const model = await llama.loadModel({modelPath, useMmap: true});
  const context = await model.createContext({contextSize: 256});
  const completion = new LlamaCompletion({contextSequence: context.getSequence()});
  console.log(JSON.stringify({answer: await completion.generateCompletion(prompt, {maxTokens: 12, temperature: 0})}));
  process.exit(0);
} catch (error) {
  console.log(JSON.stringify({error: String(error?.message ?? error)}));
  process.exit(7);
}
