import { dirname, join, normalize } from 'node:path';
import { kindOf } from './repository.ts';
import { filePathOf, isPage, sitePathOf } from './site-paths.ts';

/** Where a link of a Markdown file leads. */
export type Target =
  | { readonly kind: 'external' }
  | { readonly kind: 'page'; readonly file: string; readonly anchor: string }
  /** A file of the repository that is no page, such as a manifest. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'missing'; readonly path: string };

const EXTERNAL = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

/** Follows a link of a file of the repository, as GitHub does: a folder stands for its README. */
export function targetOf(from: string, href: string): Target {
  if (EXTERNAL.test(href)) return { kind: 'external' };
  const [path = '', anchor = ''] = href.split('#');
  const absolute = path === '' ? from : normalize(join(dirname(from), decodeURIComponent(path)));
  const place = absolute.replace(/\/$/, '');
  const kind = kindOf(place);
  const file = kind === 'folder' ? join(place, 'README.md') : place;
  if (kind === undefined || kindOf(file) !== 'file') return { kind: 'missing', path: place };
  return isPage(file) ? { kind: 'page', file, anchor } : { kind: 'file', file };
}

/** The link on the site, from its root; external ones stay as they are. */
export function siteLinkOf(from: string, href: string): string {
  const target = targetOf(from, href);
  switch (target.kind) {
    case 'external':
      return href;
    case 'page': {
      const hash = target.anchor === '' ? '' : `#${target.anchor}`;
      if (target.file === from && hash !== '') return hash;
      return `/${sitePathOf(target.file).replace(/\.md$/, '.html')}${hash}`.replace(
        /\/index\.html/,
        '/',
      );
    }
    case 'file':
      return `/${filePathOf(target.file)}`;
    case 'missing':
      throw new Error(`${from}: the link ${href} leads nowhere: there is no ${target.path}`);
  }
}
