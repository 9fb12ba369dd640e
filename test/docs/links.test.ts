import { describe, expect, it } from 'vitest';
import { targetOf } from '../../scripts/docs/links.ts';
import { slugOf } from '../../scripts/docs/slug.ts';
import { anchorsOf, linksOf, PAGES } from './pages.ts';

/** A problem of a link, or nothing. */
function problemOf(file: string, link: string): string[] {
  const target = targetOf(file, link);
  if (target.kind === 'missing') return [`${file}: ${link}: there is no ${target.path}`];
  if (target.kind !== 'page' || target.anchor === '') return [];
  const { file: to, anchor } = target;
  return anchorsOf(to).has(anchor) ? [] : [`${file}: ${link}: ${to} has no heading of this name`];
}

describe('links', () => {
  it.each(PAGES)('of %s lead somewhere', (file) => {
    expect(linksOf(file).flatMap((link) => problemOf(file, link))).toEqual([]);
  });

  it.each([
    ['nowhere.md', 'there is no docs/nowhere.md'],
    ['deploy.md#nowhere', 'docs/deploy.md has no heading of this name'],
    ['../infra', 'there is no infra'],
  ])('a link to %s is noticed', (link, problem) => {
    expect(problemOf('docs/plan.md', link)).toEqual([`docs/plan.md: ${link}: ${problem}`]);
  });

  it.each([
    ['Deploy', 'deploy'],
    ["Karpenter's suites", 'karpenters-suites'],
    ['1. Deploy', '1-deploy'],
    ['A drain that is blocked: why?', 'a-drain-that-is-blocked-why'],
    ['`top` and `budgets`', 'top-and-budgets'],
    ['What it costs – today', 'what-it-costs--today'],
  ])('the anchor of %s is the one of GitHub', (heading, anchor) => {
    expect(slugOf(heading.replaceAll('`', ''))).toBe(anchor);
  });
});
