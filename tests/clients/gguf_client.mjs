// A user's program: reads GGUF files by @huggingface/gguf. gguf_client.mjs PACKAGES FOLDER: a JSON object a line for each *.gguf,
// {"file", "tensors": {name: [dtype, shape, begin]}} or {"file", "error"}. The package does not tell where a tensor ends.
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [packages, folder] = process.argv.slice(2);
const {gguf, GGMLQuantizationType} = await import(pathToFileURL(path.join(packages, "node_modules/@huggingface/gguf/dist/index.mjs")).href);
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".gguf")).sort()) {
  try {
    const found = await gguf(path.join(folder, file), {allowLocalFile: true});
    const row = (t) => [GGMLQuantizationType[t.dtype] ?? t.dtype, t.shape.map(Number), Number(found.tensorDataOffset + t.offset)];
    console.log(JSON.stringify({file, tensors: Object.fromEntries(found.tensorInfos.map((t) => [t.name, row(t)]))}));
  } catch (error) {
    console.log(JSON.stringify({file, error: String(error?.message ?? error)}));
  }
}
