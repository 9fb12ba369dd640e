import { describe, expect, it } from 'vitest';
import { contents } from '../../scripts/docs/contents.ts';
import { llmsText } from '../../scripts/docs/contents-pages.ts';
import { textOf, tracked } from '../support/repository.ts';
import { PAGES } from './pages.ts';

const SECTIONS = contents();
const ENTRIES = SECTIONS.flatMap(({ entries }) => entries);

describe('the table of contents', () => {
  it('has every page once', () => {
    const listed = ENTRIES.map(({ file }) => file).toSorted();
    expect(listed).toEqual(PAGES.filter((file) => file !== 'docs/README.md').toSorted());
  });

  it('says what each page answers, but for records', () => {
    const open = SECTIONS.filter(({ isFolded }) => isFolded !== true);
    const silent = open.flatMap(({ entries }) => entries).filter(({ says }) => says === undefined);
    expect(silent).toEqual([]);
  });

  it.each([
    'Start',
    'Concepts',
    'Tasks',
    'Troubleshooting',
    'Migrate',
    'Operate',
    'Security',
    'FAQ',
    'Reference',
  ])('has %s', (title) => expect(SECTIONS.map((each) => each.title)).toContain(title));

  it('is in llms.txt with links of the site', () => {
    const links = [...llmsText().matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links).toContain('start/quick-start.html');
    expect(links).toContain('troubleshooting/index.html');
    expect(links.filter((link) => !link.endsWith('.html'))).toEqual([]);
    expect(links).toHaveLength(new Set(links).size);
  });
});

/** Rows of a table whose cells link to an example and name a test. */
describe('systems that examples stand for', () => {
  const rows = readSystems();

  it('are some', () => expect(rows.length).toBeGreaterThan(5));

  it.each(rows)('$system has an example and a test', ({ example, test }) => {
    expect(tracked).toContain(`examples/${example}/README.md`);
    expect(tracked).toContain(test);
    expect(textOf(test)).toContain(example);
  });
});

function readSystems(): readonly { system: string; example: string; test: string }[] {
  const row = /^\| ([^|]+) \| \[[^\]]+\]\(([^)]+)\) \| [^|]* \| `([^`]+)` \|$/gm;
  return [...textOf('examples/README.md').matchAll(row)].map(
    ([, system = '', example = '', test = '']) => ({ system, example, test }),
  );
}
