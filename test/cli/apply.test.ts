import { describe, expect, it } from 'vitest';
import { renderApplied } from '../../cli/apply/render.ts';
import { planFileText } from '../../cli/plan/plan-file.ts';
import { showPricesOf } from '../../cli/price-text.ts';
import { type ApprovedWorld, approvedWorld, fileOf } from '../sim/approved-world.ts';
import { apart, newClass } from '../sim/rolls.ts';
import { deployment, nodeClass, nodePool } from '../sim/small-world.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

const ON = Number.POSITIVE_INFINITY;
const disruption = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };
const pool = nodePool(['on-demand', 'spot'], { disruption });

/** Nodes with a pod each during pauses; one is empty, the others have drifted. */
async function world(): Promise<ApprovedWorld> {
  showPricesOf('us-east-1');
  const made = await approvedWorld([nodeClass, pool, deployment('web', 3, '1', apart)]);
  await made.pass(3);
  made.pause({ launch: ON, disrupt: ON });
  made.script.apply([newClass, deployment('web', 2, '1', apart), deployment('job', 6, '700m')]);
  await made.pass(7);
  return made;
}

describe('what people approve, and what they are told of it', () => {
  it('is carried out', async () => {
    const made = await world();
    const decisions = await made.plan();
    await expect(planFileText(fileOf(decisions))).toMatchFileSnapshot('apply/plan.json');
    const dry = await made.apply(decisions, { isDryRun: true });
    await expect(renderApplied(dry)).toMatchFileSnapshot('apply/dry-run.txt');
    const applied = await made.apply(decisions);
    await expect(renderApplied(applied)).toMatchFileSnapshot('apply/applied.txt');
  });

  it('is refused, and each change is told', async () => {
    const made = await world();
    const decisions = await made.plan();
    made.script.apply([deployment('job', 7, '700m')]);
    const labels = { team: 'red' };
    const spec = pool['spec'] as { readonly template: object };
    const template = { ...spec.template, metadata: { labels } };
    made.script.apply([{ ...pool, spec: { ...spec, template } }]);
    await made.pass(1);
    const refused = await made.apply(decisions);
    await expect(renderApplied(refused)).toMatchFileSnapshot('apply/refused.txt');
  });

  it('is nothing where nothing was to do', async () => {
    const made = await world();
    expect(renderApplied(await made.apply([]))).toBe('The plan has no decisions.');
  });
});

const PLAN = JSON.parse(planFileText(fileOf([])));

describe('joiner apply refuses', () => {
  it.each<[string, unknown, string]>([
    ['no file of a plan', { newNodeClaims: [] }, 'kind must be JoinerPlan, not undefined'],
    ['no object', [1], 'kind must be JoinerPlan, not object'],
    ['another version', { ...PLAN, version: 2 }, 'version must be 1, not 2: make the plan anew'],
    ['a time that is none', { ...PLAN, madeAt: 'today' }, 'madeAt must be a time such as'],
    [
      'a field that is not known',
      { ...PLAN, decision: [] },
      'decision is not a known field (did you mean decisions?); valid: kind, version, joiner',
    ],
    [
      'decisions that are none',
      { ...PLAN, decisions: [{ reason: 'Bored' }] },
      'decisions[0].reason must be one of Provisioned, Static, Empty, Drifted, Fallback, Underutilized, not "Bored"',
    ],
    ['a plan without its cluster', { ...PLAN, cluster: {} }, 'cluster.uid is required'],
  ])('%s', async (_, value, says) => {
    await inFolder({ config: CONFIG, 'plan.json': JSON.stringify(value) }, async (folder) => {
      const file = `${folder}/plan.json`;
      const answer = await joiner('apply', file, '--kubeconfig', `${folder}/config`);
      expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
      expect(answer.stderr).toContain(`error: ${file}: `);
      expect(answer.stderr).toContain(says);
    });
  });

  it.each([
    ['apply', "missing required argument 'file'"],
    ['apply @/absent', '@/absent: no such file'],
    ['apply @/broken', '@/broken:1:2: is not JSON'],
    ['apply @/plan -o table', 'text, json, yaml'],
    ['apply @/plan --kubeconfig @/absent', 'kubeconfig: '],
    ['apply @/plan --yes', '--yes'],
    ['plan --out @/plan -f @/plan --kubeconfig @/config', '--out plans the live cluster'],
  ])('%s', async (line, says) => {
    const files = { config: CONFIG, broken: '{', plan: JSON.stringify(PLAN) };
    await inFolder(files, async (folder) => {
      const answer = await joiner(...line.replaceAll('@', folder).split(' '));
      expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
      expect(answer.stderr).toContain(says.replaceAll('@', folder));
    });
  });

  it('where the API server does not answer, in words', async () => {
    await inFolder({ config: CONFIG, plan: JSON.stringify(PLAN) }, async (folder) => {
      const config = `${folder}/config`;
      const answer = await joiner('apply', `${folder}/plan`, '--kubeconfig', config);
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
      expect(answer.stderr).toMatch(/^error: /);
    });
  });
});
