import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contents } from '../../scripts/docs/contents.ts';
import { sitePathOf } from '../../scripts/docs/site-paths.ts';
import { Chromium, chromiumPath, type Scheme, type Tab } from '../support/chromium.ts';
import { root } from '../support/repository.ts';

/** The site as `npm run docs` builds it: its files, and some of its pages in a real browser. */

const found = chromiumPath();
if (found === undefined) process.stderr.write('skipped: no chromium in PATH; CHROMIUM names one\n');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

const folder = mkdtempSync(join(tmpdir(), 'joiner-site-'));
let server: Server;
let origin = '';
let printed = '';

beforeAll(async () => {
  const args = ['scripts/run.mjs', 'scripts/docs.ts', '--out', folder];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm run docs ended with ${status}: ${stderr}`);
  printed = stripVTControlCharacters(`${stdout}${stderr}`);
  server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(url.split('?')[0] ?? '/').replace(/\/$/, '/index.html');
    const file = join(folder, path);
    const isThere = existsSync(file) && statSync(file).isFile();
    response.writeHead(isThere ? 200 : 404, {
      'Content-Type': TYPES[extname(file)] ?? 'text/plain',
    });
    response.end(isThere ? readFileSync(file) : '');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  origin = `http://127.0.0.1:${address.port}`;
}, 400_000);
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function htmlFiles(): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  );
}

/** Links and resources of a page that are on the site, as files of it. */
function ownLinks(file: string): readonly string[] {
  const text = readFileSync(join(folder, file), 'utf8');
  return [...text.matchAll(/ (?:href|src)="([^"#?]+)/g)].flatMap(([, link = '']) => {
    if (/^([a-z]+:|\/\/)/i.test(link)) return [];
    const path = link.startsWith('/') ? link.slice(1) : normalize(join(dirname(file), link));
    return [path === '' || path.endsWith('/') ? `${path}index.html` : path];
  });
}

describe('the site', () => {
  it('is built without a warning', () => {
    expect(printed).toContain('build complete');
    const lines = printed.split('\n').filter((line) => /warn|\(!\)|deprecat|error/i.test(line));
    expect(lines).toEqual([]);
  });

  it('has every page of the contents', () => {
    const pages = contents().flatMap(({ entries }) => entries.map((each) => each.file));
    const paths = pages.map((file) => sitePathOf(file).replace(/\.md$/, '.html'));
    expect(paths.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });

  it('has no link of its own that leads nowhere', () => {
    const dead = htmlFiles().flatMap((file) =>
      ownLinks(file)
        .filter((path) => !existsSync(join(folder, path)))
        .map((path) => `${file}: ${path}`),
    );
    expect(htmlFiles().length).toBeGreaterThan(100);
    expect([...new Set(dead)]).toEqual([]);
  });

  it('has llms.txt, whose links lead somewhere', () => {
    const text = readFileSync(join(folder, 'llms.txt'), 'utf8');
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(60);
    expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
  });
});

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe.skipIf(found === undefined)('the site in a browser', () => {
  let chromium: Chromium;
  beforeAll(async () => {
    chromium = await Chromium.start(found ?? '');
  }, 60_000);
  afterAll(async () => chromium.stop());

  const isOwn = (url: string): boolean => url.startsWith(`${origin}/`) || url.startsWith('data:');
  const opened = (path: string, scheme: Scheme = 'light', width = 1400): Promise<Tab> =>
    chromium.open(`${origin}/${path}`, scheme, width);

  it.each(['', 'start/quick-start.html', 'deploy.html', 'reference/nodepool.html'])(
    '/%s loads from one host, and nothing is wrong',
    async (path) => {
      const tab = await opened(path);
      expect(await tab.text('h1')).not.toBe('');
      expect(tab.said).toEqual([]);
      expect(tab.requests.filter((each) => !isOwn(each))).toEqual([]);
    },
  );

  it.each([
    ['', 'light'],
    ['start/quick-start.html', 'light'],
    ['start/quick-start.html', 'dark'],
    ['troubleshooting/pending-pods.html', 'light'],
    ['faq.html', 'dark'],
    ['deploy.html', 'light'],
    ['reference/commands.html', 'dark'],
    ['concepts/packing.html', 'light'],
  ] as const)('axe finds nothing serious on /%s, %s', async (path, scheme) => {
    const tab = await opened(path, scheme);
    await tab.run(AXE);
    // Left out is what VitePress's theme has wrong, on every page: the name of the search button,
    // and headings of the sidebar that are buttons with links in them.
    const violations = await tab.value(
      "axe.run({ exclude: [['.DocSearch-Button'], ['.VPSidebar']] }).then(({ violations }) =>" +
        " violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))" +
        '.map(({ id, nodes }) =>' +
        ' [id, nodes.map((each) => each.html.slice(0, 120)).slice(0, 5)]))',
    );
    expect(violations).toEqual([]);
  });

  it('has no page that is wider than a telephone', async () => {
    const tab = await opened('compatibility.html', 'light', 400);
    expect(await tab.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
  });

  it('finds pages by their words', async () => {
    const tab = await opened('');
    // The button does nothing until the page has become an application.
    const results = await tab.value(`new Promise((done) => {
      const until = Date.now() + 40000;
      const look = () => {
        const input = document.querySelector('.VPLocalSearchBox input');
        if (input === null) document.querySelector('.DocSearch-Button')?.click();
        else if (input.value === '') {
          input.value = 'headroom';
          input.dispatchEvent(new Event('input', { bubbles: true }));
        }
        const links = [...document.querySelectorAll('.VPLocalSearchBox .results a')];
        if (links.length > 0 || Date.now() > until) done(links.map((each) => each.pathname));
        else setTimeout(look, 200);
      };
      look();
    })`);
    expect(results).toContain('/tasks/headroom.html');
  }, 60_000);
});
