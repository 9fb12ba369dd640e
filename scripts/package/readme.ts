import { pageUrl } from '../../shared/contract/pages.ts';
import { sitePathOf } from '../docs/site-paths.ts';

/** Links to other pages of `docs`, such as `](start/install.md)`. */
const TO_PAGES = /\]\((?!https?:)([^)#]+\.md)(#[^)]*)?\)/g;

/** `docs/package.md` as npm shows it: beside the package there are no other pages. */
export function readmeOf(page: string): string {
  return page.replace(TO_PAGES, (_, path: string, section = '') => {
    return `](${pageUrl(sitePathOf(`docs/${path}`))}${section})`;
  });
}
