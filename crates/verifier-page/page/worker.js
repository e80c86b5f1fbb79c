"use strict";
// Runs the verifier beside the page, so that a large bundle does not freeze it. Reads the bundle in pieces.
const PIECE = 1 << 20;
let verifier = null;
let bundle = null;
let piece = new Uint8Array(0);
let start = 0;
let place = 0;
let told = 0;

// Copies bytes of the bundle for the verifier: at most `length` of them to `address`.
function read(address, length) {
  if (place >= bundle.size) return 0;
  if (place < start || place >= start + piece.length) {
    try {
      piece = new Uint8Array(new FileReaderSync().readAsArrayBuffer(bundle.slice(place, place + PIECE)));
    } catch {
      return -1;
    }
    start = place;
    if (piece.length === 0) return -1;
    const now = Date.now();
    if (now - told > 100) {
      told = now;
      postMessage({ progress: place / bundle.size });
    }
  }
  const from = place - start;
  const part = piece.subarray(from, from + (length >>> 0));
  new Uint8Array(verifier.memory.buffer).set(part, address >>> 0);
  place += part.length;
  return part.length;
}

async function load(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const code = await new Response(stream).arrayBuffer();
  verifier = (await WebAssembly.instantiate(code, { page: { read } })).instance.exports;
}

function taken(address, length) {
  return new Uint8Array(verifier.memory.buffer).slice(address >>> 0, (address >>> 0) + (length >>> 0));
}

function ask(question) {
  const bytes = new TextEncoder().encode(JSON.stringify(question));
  const address = verifier.input(bytes.length) >>> 0;
  new Uint8Array(verifier.memory.buffer).set(bytes, address);
  place = 0;
  verifier.ask();
  const answer = JSON.parse(new TextDecoder().decode(taken(verifier.document(), verifier.document_length())));
  return { answer, bytes: taken(verifier.bytes(), verifier.bytes_length()) };
}

let before = Promise.resolve();
onmessage = ({ data }) => {
  before = before.then(async () => {
    try {
      if (data.packed) await load(data.packed);
      if (data.bundle) {
        bundle = data.bundle;
        piece = new Uint8Array(0);
      }
      if (data.question) {
        if (bundle === null) bundle = new Blob([]);
        const { answer, bytes } = ask(data.question);
        postMessage({ answer, bytes }, [bytes.buffer]);
      }
    } catch (error) {
      postMessage({ stopped: String(error) });
    }
  });
};
