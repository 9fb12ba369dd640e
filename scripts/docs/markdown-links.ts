import type { MarkdownRenderer } from 'vitepress';
import { siteLinkOf, targetOf } from './links.ts';
import { pathOf } from './repository.ts';

/** What VitePress says of the file that is rendered; the search index knows only `path`. */
interface Environment {
  readonly path?: string;
  readonly realPath?: string;
}

/**
 * A plugin of markdown-it: links between files of the repository become links of the site. Files
 * that are no pages are added to `linked`. A link that leads nowhere ends the build.
 */
export function linksOnSite(md: MarkdownRenderer, linked: Set<string>): void {
  md.core.ruler.push('links-on-site', (state) => {
    const { realPath, path }: Environment = state.env ?? {};
    const absolute = realPath ?? path;
    if (absolute === undefined) return;
    const from = pathOf(absolute);
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null) continue;
      const target = targetOf(from, href);
      if (target.kind === 'file') linked.add(target.file);
      token.attrSet('href', siteLinkOf(from, href));
    }
  });
}
