/**
 * The licences of what the package holds of others. Which packages those are, the bundler says;
 * their texts are in their folders.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** A package that gave code, as its package.json states it. */
export interface BundledPackage {
  /** With its scope, such as `@middy/core`. */
  readonly name: string;
  readonly version: string;
  /** An identifier of SPDX. */
  readonly licence: string;
}

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

/**
 * The packages in these folders, each version once, in the order of their names and versions.
 * Throws where one has a licence that is not in the list.
 */
export function bundledPackages(
  root: string,
  folders: readonly string[],
): readonly BundledPackage[] {
  const found = folders.map((folder) => packageIn(join(root, folder)));
  const byName = new Map(found.map((each) => [`${each.name} ${each.version}`, each]));
  return [...byName].toSorted(([one], [other]) => compare(one, other)).map(([, each]) => each);
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
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

/** Of a package under one of several licences: the one that it is taken under. */
const CHOSEN: Readonly<Record<string, string>> = { '(MIT OR GPL-3.0-or-later)': 'MIT' };

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function packageIn(folder: string): BundledPackage {
  const { name, version, license } = manifestOf(folder);
  const licence = CHOSEN[String(license)] ?? String(license);
  if (!PERMISSIVE.has(licence)) {
    throw new Error(`${name} has the licence ${license}, which nobody has looked at`);
  }
  return { name: String(name), version: String(version), licence };
}

function noticeOf(folder: string): Notice {
  const { name, version, licence } = packageIn(folder);
  const { author } = manifestOf(folder);
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  const text = texts.join('\n\n') || withoutText(licence, author);
  return { of: `${name} ${version}`, licence, text };
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
