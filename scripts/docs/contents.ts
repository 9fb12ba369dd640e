/** The contents of the documentation: the site's sidebar, docs/README.md and llms.txt come from it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { headingOf, root } from './repository.ts';

export interface Entry {
  /** The path in the repository. */
  readonly file: string;
  /** The name in the sidebar. */
  readonly title: string;
  /** One line of what the page answers; a record of a decision or a measurement has none. */
  readonly says?: string;
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Folded in the sidebar until somebody asks for it. */
  readonly isFolded?: boolean;
}

const page = (file: string, title: string, says: string): Entry => ({ file, title, says });

/** A folder's pages by name, under their headings. */
function folder(path: string): readonly Entry[] {
  return readdirSync(join(root, path))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => ({ file: `${path}/${name}`, title: headingOf(`${path}/${name}`) }));
}

/** Every page is in one section. */
export function contents(): readonly Section[] {
  return [
    {
      title: 'Reference',
      entries: [
        page('docs/deploy.md', 'Deploy', 'settings, keys, upgrades, rollback and uninstall'),
      ],
    },
    { title: 'Decision records', entries: folder('docs/decisions'), isFolded: true },
  ];
}
