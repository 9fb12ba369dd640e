import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { contents } from './contents.ts';
import { linksOnSite } from './markdown-links.ts';
import { root } from './repository.ts';
import { EXCLUDED, filePathOf, sitePathOf } from './site-paths.ts';
import { slugOf } from './slug.ts';

function sidebar(): DefaultTheme.SidebarItem[] {
  return contents().map(({ title, entries, isFolded }) => ({
    text: title,
    collapsed: isFolded === true,
    items: entries.map(({ file, title: text }) => ({
      text,
      link: `/${sitePathOf(file)
        .replace(/(^|\/)index\.md$/, '$1')
        .replace(/\.md$/, '.html')}`,
    })),
  }));
}

/** Records of decisions and measurements come after the pages. The function runs in the browser. */
function boostDocument(page: string): number {
  return /\/(decisions|measurements)\/|\/changelog/.test(page) ? 0.15 : 1;
}

/** Files of the repository that pages link to, as the build meets them. */
const linked = new Set<string>();

export default defineConfig({
  lang: 'en',
  title: 'Joiner',
  description: 'A serverless, Karpenter-compatible node provisioner for Amazon EKS',
  srcDir: root,
  srcExclude: [...EXCLUDED],
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, '.cache/vitepress'),
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  rewrites: sitePathOf,
  vite: {
    publicDir: join(root, 'docs/.vitepress/public'),
    // The index of the search is larger than Vite's 500 kB; it is loaded when somebody searches.
    build: { chunkSizeWarningLimit: 1000 },
  },
  markdown: {
    // Of the default themes comments and keys have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: slugOf },
    config: (md) => {
      md.use(linksOnSite, linked);
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linked) {
      const to = join(outDir, filePathOf(file));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(root, file), to);
    }
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument } } } },
    outline: { level: [2, 3] },
    sidebar: sidebar(),
    nav: [],
  },
});
