// A memory service made to be killed: node dying-server.mjs SOCKET MODE
//   half   sends half of its answer, says so on stdout, and waits to be killed
//   idle   only listens
// It ends by itself after 30 seconds.
import http from "node:http";

const [socketPath, mode] = process.argv.slice(2);
setTimeout(() => process.exit(0), 30_000);

http.createServer((request, response) => {
  request.resume().on("end", () => {
    if (mode !== "half") return;
    response.writeHead(200, { "content-type": "application/json", "content-length": 400 });
    response.write('{"protocol":1,"facts_block":"half of a fa');
    setTimeout(() => process.stdout.write("half\n"), 20);
  });
}).listen(socketPath, () => process.stdout.write("listening\n"));
