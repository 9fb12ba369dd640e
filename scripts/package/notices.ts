/**
 * The licences of what the package holds of others. Which packages those are, the bundler says;
 * their texts are in their folders.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

interface Notice {
  /** Name and version. */
  readonly of: string;
  readonly licence: string;
  readonly text: string;
}

/** Folders of packages that gave code to a bundle, relative to the checkout. */
export function packagesIn({ outputs }: Metafile): readonly string[] {
  const given = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
      const [folder] = /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
      return folder === undefined || bytesInOutput === 0 ? [] : [folder];
    }),
  );
  return [...new Set(given)];
}

/** One section for each licence text, with the packages that are under it. */
export function thirdPartyNotices(root: string, folders: readonly string[]): string {
  const notices = [...new Set(folders)].map((folder) => noticeOf(join(root, folder)));
  const sections = Map.groupBy(notices, ({ licence, text }) => `${licence}\n${text}`);
  const written = [...sections.values()]
    .map((section) => section.toSorted((one, other) => compare(one.of, other.of)))
    .toSorted(([one], [other]) => compare(one?.of ?? '', other?.of ?? ''))
    .map((section) => {
      const [{ licence, text } = { licence: '', text: '' }] = section;
      const names = [...new Set(section.map((each) => `- ${each.of}`))].join('\n');
      return `${names}\n\nLicence: ${licence}\n\n${text}\n`;
    });
  const line = `\n${'-'.repeat(80)}\n\n`;
  return `This package holds code of the packages below, each under its own licence.\n${line}${written.join(line)}`;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Licences that ask for no more than being named with their text. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

function noticeOf(folder: string): Notice {
  const stated: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license, author } = stated as Readonly<Record<string, unknown>>;
  if (typeof license !== 'string' || !PERMISSIVE.has(license)) {
    throw new Error(`${name} has the licence ${license}, which nobody has looked at`);
  }
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  const text = texts.join('\n\n') || withoutText(license, author);
  return { of: `${name} ${version}`, licence: license, text };
}

/** Some packages come without the text of the licence that they state. */
function withoutText(licence: string, author: unknown): string {
  if (licence === 'Apache-2.0') return 'The text is that of the file LICENSE beside this one.';
  const by = typeof author === 'string' ? author : Reflect.get(Object(author), 'name');
  const holder = by === undefined ? '' : `Copyright (c) ${by}\n\n`;
  if (licence === 'MIT') return `MIT License\n\n${holder}${MIT}`;
  return `${holder}The package has no file with the text: https://spdx.org/licenses/${licence}`;
}

/** It asks that its text be handed on, also by those who took it from a package without. */
const MIT = readFileSync(join(import.meta.dirname, 'mit.txt'), 'utf8').trim();
