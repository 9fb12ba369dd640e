import { NODE_CLASS, NODE_OVERLAY, NODE_POOL } from '../manifests.ts';
import { GOOD, POOL_AND_CLASS, type Row, row } from './row.ts';

/** Each level repeats the one before nine times. */
const BOMB = Array.from({ length: 9 }, (_, level) => {
  const items = Array.from({ length: 9 }, () => (level === 0 ? 'x' : `*a${level - 1}`));
  return `a${level}: &a${level} [${items.join(', ')}]\n`;
}).join('');

export const FILES: readonly Row[] = [
  row(
    'a path that is not there',
    {},
    'simulate @/none.yaml',
    '@/none.yaml: no such file or folder',
  ),
  row('a folder with nothing in it', { 'empty/readme.txt': '' }, 'simulate @/empty', '@/empty'),
  row('no path', {}, 'simulate', 'give at least one file or folder of manifests'),
  row('broken YAML', { 'a.yaml': 'kind: NodePool\nspec: [1, 2\n' }, 'simulate @', '@/a.yaml:3:1: '),
  row('a tab', { 'a.yaml': 'kind: NodePool\nspec:\n\tweight: 1\n' }, 'simulate @', '@/a.yaml:3:'),
  row(
    'broken YAML, whose place is told once',
    { 'a.yaml': 'kind: NodePool\nspec: [1, 2\n' },
    'simulate @/a.yaml',
    '@/a.yaml:3:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ),
  row('an empty file', { 'a.yaml': '' }, 'simulate @/a.yaml', '@/a.yaml: holds no Kubernetes obj'),
  row('only a comment', { 'a.yaml': '# a\n---\n' }, 'simulate @', '@: holds no Kubernetes object'),
  row(
    'an empty file beside a good one',
    { ...GOOD, 'a.yaml': '\n' },
    'simulate @/good @/a.yaml',
    '@/a.yaml: holds no Kubernetes object',
  ),
  row(
    'aliases that would grow without end',
    { 'a.yaml': `# bomb\n${BOMB}` },
    'simulate @/a.yaml',
    '@/a.yaml:2: cannot be read: Excessive alias count',
  ),
  row(
    'aliases without end in a scenario',
    { ...GOOD, 's.yaml': BOMB },
    'simulate @/good --scenario @/s.yaml',
    '@/s.yaml:1: cannot be read: Excessive alias count',
  ),
  row('an alias of nothing', { 'a.yaml': 'kind: *none\n' }, 'simulate @', '@/a.yaml:1', 'none'),
  row(
    'a document without a kind',
    { 'a.yaml': `${POOL_AND_CLASS}---\nreplicas: 2\nimage: x\n` },
    'simulate @/a.yaml',
    ': no kind in this document; it has replicas, image',
  ),
  row(
    'a list with a bad item',
    {
      'a.yaml': `kind: List\nitems:\n- ${NODE_OVERLAY.replace('weight: 10', 'weight: 0').replaceAll('\n', '\n  ')}\n`,
    },
    'simulate @',
    '@/a.yaml:8: NodeOverlay/dearer: spec.weight must be at least 1, not 0',
  ),
  row('a key given twice', { 'a.yaml': 'kind: A\nkind: B\n' }, 'simulate @', '@/a.yaml:2:1: '),
  row('broken JSON', { 'a.json': '{"kind": ' }, 'simulate @', '@/a.json:1:'),
  row(
    'a document that is no object',
    { 'a.yaml': 'just words\n' },
    'simulate @/a.yaml',
    '@/a.yaml:1: a Kubernetes object is expected',
  ),
  row(
    'bytes that are no text',
    { 'a.yaml': 'kind: \0' },
    'simulate @',
    '@/a.yaml: is not a text file',
  ),
  row(
    'an unset variable',
    { 'a.yaml': `\n${POOL_AND_CLASS.replace('general', '$' + '{NAME}')}` },
    'simulate @',
    '@/a.yaml:5: NodePool/$',
    '{NAME} is not set: give it as --var NAME=VALUE',
  ),
  row(
    'the second document',
    { 'a.yaml': `${NODE_CLASS}---\n${NODE_POOL.replace('weight: 10', 'weight: 0')}` },
    'simulate @',
    '@/a.yaml:31: NodePool/general: spec.weight must be at least 1, not 0',
  ),
];
