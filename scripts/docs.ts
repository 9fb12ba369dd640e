/**
 * The documentation as a site, of the Markdown in `docs` and beside it:
 *
 *     npm run docs                  writes dist/site
 *     npm run docs -- --dev         serves it, and shows changes at once
 *     npm run docs -- --serve       serves what has been written
 *     npm run docs -- --base /x/    for a server that has it below a folder
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, createServer, serve } from 'vitepress';

const folder = join(import.meta.dirname, '..', 'docs');
const { values } = parseArgs({
  options: {
    dev: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    base: { type: 'string', default: '/' },
    out: { type: 'string' },
    port: { type: 'string', default: '8080' },
  },
});
const { base } = values;
const port = Number(values.port);

if (values.dev) {
  const server = await createServer(folder, { base, port, host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
} else if (values.serve) {
  await serve({ root: folder, base, port });
} else {
  await build(folder, { base, ...(values.out === undefined ? {} : { outDir: values.out }) });
}
