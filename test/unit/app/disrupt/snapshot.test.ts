import { expect, it } from 'vitest';
import { disruptionCandidates } from '../../../../shared/app/disrupt/candidates.ts';
import { observePass } from '../../../../shared/app/disrupt/disrupt.ts';
import { reservedSnapshot } from '../../../../shared/app/disrupt/snapshot.ts';
import { DO_NOT_DISRUPT } from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { runningWorld, settings, spread } from '../world.ts';

const MINUTE = 60_000;

/** Keys of the taints of a node that has replaced another, whose drain began so long ago. */
async function taintsOfReplacement(minutes: number, changed: (pod: Pod) => Pod) {
  const { ports } = await runningWorld([spread('web', 2, '0.1')]);
  const pass = await observePass(ports, settings, {});
  const [drained, other] = disruptionCandidates(pass);
  if (drained === undefined || other === undefined) throw new Error('the world has two nodes');
  const deletedAtMs = pass.nowMs - minutes * MINUTE;
  const claim = { ...drained.claim, deletedAtMs };
  const node = { ...drained.node, deletedAtMs };
  const { objects } = pass.state;
  const changes = {
    nodeClaims: [claim, other.claim],
    nodes: [node, other.node],
    pods: objects.pods.map(changed),
  };
  const { snapshot } = await reservedSnapshot({
    ...pass,
    state: { ...pass.state, objects: { ...objects, ...changes } },
    draining: [{ claim, node, replacements: [other.claim] }],
  });
  const replacement = snapshot.nodes.find(({ name }) => name === other.node.name);
  return replacement?.taints.map(({ key }) => key);
}

function anywhere(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, podAntiAffinity: [] } };
}

it.each<[string, number, (pod: Pod) => Pod, readonly string[]]>([
  ['is kept for the pods of a drain that has just begun', 1, anywhere, ['joiner.dev/reserved']],
  ['is for others beside the pods of a drain that takes long', 10, anywhere, []],
  ['is kept while one of them has no room there', 10, (pod) => pod, ['joiner.dev/reserved']],
  [
    'is for others where those are never evicted',
    10,
    (pod) => ({ ...pod, annotations: { [DO_NOT_DISRUPT]: 'true' } }),
    [],
  ],
])('the room on a replacement %s', async (_, minutes, changed, expected) => {
  expect(await taintsOfReplacement(minutes, changed)).toEqual(expected);
});
