import type { Note } from '../part.ts';

interface Released {
  readonly releaseVersion?: string | undefined;
}

/** Of a release such as `1.35.0-20260112`, `1.49.0-713f44ce` or `1.35-2026.01.12`. */
export function releaseOf({ releaseVersion = '' }: Released, family: string): string | undefined {
  const [, first = '', second = ''] = /^(\d+\.\d+\.\d+)-(\w+)$/.exec(releaseVersion) ?? [];
  if (family === 'Bottlerocket' && first !== '') return `v${first}`;
  const isDated = family === 'AL2023' || family === 'AL2';
  return isDated && /^\d{8}$/.test(second) ? `v${second}` : undefined;
}

/** What became of the release of a group's image. */
export function releaseNotes(group: Released, family: string, field: string): readonly Note[] {
  const { releaseVersion } = group;
  if (releaseVersion === undefined || family === 'Custom') return [];
  const release = releaseOf(group, family);
  const latest = `${family.toLowerCase()}@latest`;
  const message =
    release === undefined
      ? `"${releaseVersion}": left out: the alias ${latest} selects the newest images`
      : `"${releaseVersion}": the alias stays at this release, as the group does; ${latest} follows new ones`;
  return [{ field: `${field}.releaseVersion`, message }];
}
