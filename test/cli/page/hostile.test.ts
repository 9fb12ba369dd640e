import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PageInput } from '../../../cli/page/input.ts';
import { pageOf } from '../../../cli/page/page.ts';
import { isJson } from '../../../shared/sim/json.ts';
import { joiner } from '../run.ts';
import { ROOT, withRecordings } from './made.ts';

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  '</script><script>alert(1)</script>',
  '<!--<script>',
  '</style>]]>&lt;b&gt;',
  'line\u2028separator \u202egnp.exe \u0000 end',
];

/** Every text with something hostile behind it, also in keys; words that programs read stay. */
function spoilt(value: unknown, hostile: string, key = ''): unknown {
  const kept = ['action', 'state', 'start', 'end', 'status', 'kind', 'currency'];
  const isAmount = ['cpu', 'memory', 'pods', 'requests', 'allocatable', 'reserved'].includes(key);
  if (typeof value === 'string') return kept.includes(key) || isAmount ? value : value + hostile;
  if (Array.isArray(value)) return value.map((each) => spoilt(each, hostile, key));
  if (!isJson(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      key === 'errors' ? name + hostile : name,
      spoilt(each, hostile, name),
    ]),
  );
}

async function printed(...args: readonly string[]) {
  const { stdout } = await joiner(...args);
  return JSON.parse(stdout);
}

const example = join(ROOT, 'examples/01-prefer-graviton4');
const INPUTS: readonly PageInput[] = [
  {
    command: 'simulate',
    subject: 'x',
    json: await printed('simulate', example, '--duration', '90s', '-o', 'json'),
  },
  {
    command: 'solve',
    subject: 'x',
    json: {
      ...(await printed('solve', join(ROOT, 'examples/09-solve/case.json'))),
      errors: { 'default/left': 'no NodePool has room' },
    },
  },
  {
    command: 'replay',
    subject: 'x',
    json: await withRecordings((files) => printed('replay', ...files, '-o', 'json')),
  },
  {
    command: 'diagnose',
    subject: 'x',
    json: await printed('diagnose', '-f', example, '-o', 'json'),
  },
];

describe.each(HOSTILE)('%j in names and messages', (hostile) => {
  it.each(INPUTS)('is text in the page of $command', async ({ command, subject, json }) => {
    const sound = await pageOf({ command, subject, json });
    const bad = JSON.parse(JSON.stringify(spoilt(json, hostile)));
    const page = await pageOf({ command, subject: subject + hostile, json: bad });
    const tags = (text: string) =>
      [...new Set([...text.replaceAll(/<script[\s\S]*?<\/script>/g, '').matchAll(/<(\/?\w+)/g)])]
        .map(([, name]) => name)
        .sort();
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page.match(/<\/script/g)).toHaveLength(2);
    expect([...new Set(tags(page))]).toEqual([...new Set(tags(sound))]);
    const bare = page.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, '').replaceAll(/"[^"]*"/g, '""');
    expect(/<[^>]* on\w+=/.test(bare)).toBe(false);
    expect(page.includes('\u202e')).toBe(false);
  });
});
