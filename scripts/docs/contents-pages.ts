/** docs/README.md and llms.txt: the contents, for people and for programs that read the site. */
import { relative } from 'node:path';
import { contents, type Entry, type Section } from './contents.ts';
import { sitePathOf } from './site-paths.ts';

const SAYS =
  'A serverless, Karpenter-compatible node provisioner for Amazon EKS: Lambda functions that ' +
  'launch, consolidate and terminate EC2 instances for pods.';

function listOf({ title, entries }: Section, linkOf: (entry: Entry) => string): readonly string[] {
  const lines = entries.map((entry) => {
    const says = entry.says === undefined ? '' : `: ${entry.says}`;
    return `- [${entry.title}](${linkOf(entry)})${says}`;
  });
  return [`## ${title}`, '', ...lines, ''];
}

/** The first page of the site. */
export function contentsPage(): string {
  const linkOf = ({ file }: Entry): string => relative('docs', file);
  const sections = contents().filter(({ isFolded }) => isFolded !== true);
  const folded = contents().filter(({ isFolded }) => isFolded === true);
  return [
    '# Documentation',
    '',
    '<!-- Written by npm run generate, from scripts/docs/contents.ts. -->',
    '',
    SAYS,
    '',
    '`npm run docs` makes a site of these pages, with a search.',
    '',
    'New here: [quick start](start/quick-start.md). Karpenter runs already: [for people who know',
    'Karpenter](concepts/karpenter.md). Something is wrong: [by symptom](troubleshooting/README.md).',
    '',
    ...sections.flatMap((section) => listOf(section, linkOf)),
    ...folded.flatMap((section) => listOf(section, linkOf)),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

/** https://llmstxt.org: a heading, a summary, and lists of links with what each answers. */
export function llmsText(): string {
  const linkOf = ({ file }: Entry): string => sitePathOf(file).replace(/\.md$/, '.html');
  const shown = contents().filter(({ title }) => title !== 'Decision records');
  return ['# Joiner', '', `> ${SAYS}`, '', ...shown.flatMap((each) => listOf(each, linkOf))]
    .join('\n')
    .replace(/\n+$/, '\n');
}
