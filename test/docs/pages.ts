/** The pages of the documentation, as the site's own renderer reads them. */
import { createMarkdownRenderer } from 'vitepress';
import { root } from '../../scripts/docs/repository.ts';
import { isPage } from '../../scripts/docs/site-paths.ts';
import { slugOf } from '../../scripts/docs/slug.ts';
import { textOf, tracked } from '../support/repository.ts';

const md = await createMarkdownRenderer(root, { anchor: { slugify: slugOf } });

type Tokens = ReturnType<typeof md.parse>;

/** Every page of the site, by its path in the repository. */
export const PAGES: readonly string[] = tracked.filter(isPage);

const parsed = new Map<string, Tokens>();

function tokensOf(file: string): Tokens {
  const known = parsed.get(file) ?? md.parse(textOf(file), {});
  parsed.set(file, known);
  return known;
}

export interface Block {
  readonly file: string;
  /** The line of its first character, from 1. */
  readonly line: number;
  /** The language of a fenced block; an indented one has none, it is what people type. */
  readonly language: string;
  /** What follows the language on the line of the fence. */
  readonly marks: readonly string[];
  readonly text: string;
}

/** The code blocks of a page. */
export function blocksOf(file: string): readonly Block[] {
  return tokensOf(file).flatMap(({ type, info, content, map }) => {
    if (type !== 'fence' && type !== 'code_block') return [];
    const [language = '', ...marks] = type === 'fence' ? info.trim().split(/\s+/) : ['sh'];
    return [{ file, line: (map?.[0] ?? 0) + 1, language, marks, text: content }];
  });
}

/** Blocks of these languages on all pages. */
export function blocksIn(...languages: readonly string[]): readonly Block[] {
  return PAGES.flatMap(blocksOf).filter(({ language }) => languages.includes(language));
}

/** `docs/plan.md:12`. */
export function placeOf({ file, line }: Block): string {
  return `${file}:${line}`;
}

/** Links and pictures of a page, as they are written. */
export function linksOf(file: string): readonly string[] {
  const inline = tokensOf(file).flatMap(({ children }) => children ?? []);
  return inline.flatMap((token) => {
    const link = token.type === 'link_open' ? token.attrGet('href') : token.attrGet('src');
    const isOwn = token.attrGet('class') === 'header-anchor';
    return link === null || isOwn ? [] : [link];
  });
}

/** The anchors of a page's headings. */
export function anchorsOf(file: string): ReadonlySet<string> {
  const ids = tokensOf(file).map((token) =>
    token.type === 'heading_open' ? token.attrGet('id') : null,
  );
  return new Set(ids.filter((id) => id !== null));
}

/** What stands in `code` in the text of a page. */
export function codeSpansOf(file: string): readonly string[] {
  const inline = tokensOf(file).flatMap(({ children }) => children ?? []);
  return inline.filter(({ type }) => type === 'code_inline').map(({ content }) => content);
}
