import packageJson from '../../package.json' with { type: 'json' };

/** The address of a page of the site by its path in `docs`: `plan.md`, `adopt.md#undo`. */
export function pageUrl(page: string): string {
  return `${packageJson.homepage}${page.replace('.md', '.html')}`;
}
