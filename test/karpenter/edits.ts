import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What of Joiner's stands in Karpenter's place. `validation` is `solver`, and pods that Karpenter's
 * provisioner would sort out beforehand reach it, too.
 */
export type Part = 'crds' | 'overlays' | 'solver' | 'validation';

/**
 * A text of one of Karpenter's files, which is there exactly once, and what stands there instead;
 * a global pattern is there at least once.
 */
export type Change = readonly [
  found: string | RegExp,
  instead: string | ((text: string, ...groups: readonly string[]) => string),
];

/** What differs from Karpenter's module: changed files, and files of ours by their place in it. */
export interface Edits {
  readonly changes: Readonly<Record<string, readonly Change[]>>;
  readonly files: Readonly<Record<string, string>>;
}

const ADAPTER = join(import.meta.dirname, 'adapter');
const CRDS = join(import.meta.dirname, '../../infra/crds');

const SCHEDULING = 'pkg/controllers/provisioning/scheduling';
const PROVISIONER = 'pkg/controllers/provisioning/provisioner.go';
const NODE_OVERLAY = 'pkg/controllers/nodeoverlay';

const LINE = {
  'pkg/joiner/child.go': join(ADAPTER, 'child.go'),
  'pkg/joiner/objects.go': join(ADAPTER, 'objects.go'),
};

const SOLVER: Edits = {
  changes: {
    [`${SCHEDULING}/scheduler.go`]: [
      ['func (s *Scheduler) Solve(', 'func (s *Scheduler) solveStock('],
      ['type Scheduler struct {', 'type Scheduler struct {\n\tjoiner joinerInputs'],
      [
        'enforceConsolidateAfter)\n\treturn s\n}',
        'enforceConsolidateAfter)\n' +
          '\ts.joiner = joinerInputs{nodePools: nodePools, stateNodes: stateNodes}\n\treturn s\n}',
      ],
    ],
  },
  files: {
    ...LINE,
    [`${SCHEDULING}/joiner_solve.go`]: join(ADAPTER, 'solve.go'),
    [`${SCHEDULING}/joiner_solve_case.go`]: join(ADAPTER, 'solve_case.go'),
    [`${SCHEDULING}/joiner_solve_results.go`]: join(ADAPTER, 'solve_results.go'),
  },
};

const VALIDATION: Edits = {
  ...SOLVER,
  changes: {
    ...SOLVER.changes,
    [PROVISIONER]: [
      ['if err := p.Validate(ctx, po); err != nil {', 'if err := error(nil); err != nil {'],
    ],
  },
};

const OVERLAYS: Edits = {
  changes: {
    [`${NODE_OVERLAY}/controller.go`]: [
      ['func (c *Controller) Reconcile(', 'func (c *Controller) reconcileStock('],
    ],
  },
  files: { ...LINE, [`${NODE_OVERLAY}/joiner_overlays.go`]: join(ADAPTER, 'overlays.go') },
};

/** Ours for each that Karpenter's core module has; the one of node classes is AWS's. */
async function crdEdits(): Promise<Edits> {
  const names = (await readdir(CRDS)).filter((name) => !name.startsWith('karpenter.k8s.aws_'));
  const files = names.map((name) => [`pkg/apis/crds/${name}`, join(CRDS, name)] as const);
  return { changes: {}, files: Object.fromEntries(files) };
}

export async function editsOf(part: Part): Promise<Edits> {
  switch (part) {
    case 'crds':
      return await crdEdits();
    case 'overlays':
      return OVERLAYS;
    case 'solver':
      return SOLVER;
    case 'validation':
      return VALIDATION;
  }
}

/** The text with its changes. A new release of Karpenter that moves one is noticed here. */
export function changed(file: string, content: string, changes: readonly Change[]): string {
  return changes.reduce((text, [found, instead]) => {
    const by = typeof instead === 'string' ? () => instead : instead;
    const pattern = typeof found === 'string' ? new RegExp(escaped(found), 'g') : found;
    const times = [...text.matchAll(new RegExp(pattern, 'g'))].length;
    const isMany = typeof found !== 'string' && found.global;
    if (times === 0 || (times > 1 && !isMany)) {
      throw new Error(`${file} has ${times} times: ${String(found)}`);
    }
    return text.replace(pattern, by);
  }, content);
}

/** A pattern that matches the text alone. */
export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
