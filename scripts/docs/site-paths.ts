/** Which files of the repository are pages, and where each is on the site. */

/** Files that pages link to and that are no pages are copied below this folder of the site. */
const FILES_FOLDER = 'files';

/** Pages outside `docs`, by the path of the site that their names give. */
const OUTSIDE: Readonly<Record<string, string>> = {
  'README.md': 'overview.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
};

/** Folders beside `docs` whose Markdown is on the site; the others have none of it. */
const FOLDERS = { bench: 'measurements', examples: 'examples' } as const;

function folderOf(file: string): keyof typeof FOLDERS | undefined {
  if (file.startsWith('bench/')) return 'bench';
  return file.startsWith('examples/') ? 'examples' : undefined;
}

export function isPage(file: string): boolean {
  if (!file.endsWith('.md')) return false;
  return OUTSIDE[file] !== undefined || file.startsWith('docs/') || folderOf(file) !== undefined;
}

/** `docs/plan.md` → `plan.md`, `examples/README.md` → `examples/index.md`. */
export function sitePathOf(file: string): string {
  const outside = OUTSIDE[file];
  if (outside !== undefined) return outside;
  const folder = folderOf(file);
  const path =
    folder === undefined
      ? file.replace(/^docs\//, '')
      : file.replace(`${folder}/`, `${FOLDERS[folder]}/`);
  return path.replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Globs of Markdown that is no page, for VitePress. */
export const EXCLUDED: readonly string[] = [
  '*/**/.*/**',
  'coverage/**',
  'cdk.out/**',
  'cli/**',
  'functions/**',
  'headlamp-plugin/**',
  'infra/**',
  'scripts/**',
  'shared/**',
  'test/**',
];

/** Where a file that is no page is on the site: with an extension, by which servers know its type. */
export function filePathOf(file: string): string {
  return `${FILES_FOLDER}/${file}${/\.\w+$/.test(file) ? '' : '.txt'}`;
}
