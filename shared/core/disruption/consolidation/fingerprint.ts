import type { Condition } from '../../model/cluster.ts';
import type { InstanceType } from '../../model/instance-type.ts';
import type { Labels } from '../../model/labels.ts';
import type { Pod, PodSpec } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';

/** Texts of objects that many others share, each made once. */
function shared<Each extends object>() {
  const known = new Map<string, number>();
  const ids = new Map<Each, number>();
  const idOf = (each: Each): number => {
    const before = ids.get(each);
    if (before !== undefined) return before;
    const text = JSON.stringify(each);
    const id = known.get(text) ?? known.size;
    known.set(text, id);
    ids.set(each, id);
    return id;
  };
  return { idOf, texts: known.keys() };
}

function sorted(lines: readonly string[]): string {
  return lines.toSorted().join('\n');
}

function trueOnes(conditions: readonly Condition[]): readonly string[] {
  return conditions.flatMap(({ type, status }) => (status === 'True' ? [type] : [])).sort();
}

/** Pods in the order of their uids, so that what is counted first does not depend on the list. */
function podsText(pods: readonly Pod[]): string {
  const inOrder = pods.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  const spec = shared<PodSpec>();
  const labels = shared<Labels>();
  const texts = inOrder.map((pod) => {
    const { uid, nodeName, nominatedNodeName, phase, deletedAtMs, ready } = pod;
    const own = [uid, nodeName, nominatedNodeName, phase, deletedAtMs === undefined, ready];
    return `${own.join(' ')} ${spec.idOf(pod.spec)} ${labels.idOf(pod.labels)}`;
  });
  return [...texts, ...spec.texts, ...labels.texts].join('\n');
}

type TypesByPool = ClusterSnapshot['instanceTypes'];

/** Whether the same can be launched, by what it is or by what it says. */
export function hasSameTypes(a: TypesByPool, b: TypesByPool): boolean {
  if (a === b) return true;
  return (
    a.size === b.size &&
    [...a].every(([pool, types]) => {
      const others = b.get(pool);
      return others !== undefined && (types === others || typesText(types) === typesText(others));
    })
  );
}

/** Made once for each list: what can be launched stays as it is from pass to pass. */
const typesTexts = new WeakMap<readonly InstanceType[], string>();

function typesText(types: readonly InstanceType[]): string {
  const before = typesTexts.get(types);
  if (before !== undefined) return before;
  const text = sorted(types.map((each) => JSON.stringify(each)));
  typesTexts.set(types, text);
  return text;
}

/**
 * Text that two snapshots share only where plans for them are the same, if {@link hasSameTypes}
 * holds, too: when a node reported last,
 * since when a condition holds and who wrote an annotation are not in it.
 */
export function fingerprint(snapshot: ClusterSnapshot): string {
  const { nodes, nodeClaims, nodePools } = snapshot;
  const { daemonSets, namespaces, persistentVolumeClaims, persistentVolumes } = snapshot;
  const { storageClasses, csiNodes } = snapshot;
  const small = { daemonSets, namespaces, persistentVolumeClaims, persistentVolumes };
  return [
    podsText(snapshot.pods),
    sorted(
      nodes.map(({ name, labels, taints, allocatable, deletedAtMs, providerId }) =>
        JSON.stringify([name, labels, taints, allocatable, deletedAtMs === undefined, providerId]),
      ),
    ),
    sorted(
      nodeClaims.map(({ uid, labels, taints, deletedAtMs, providerId, conditions }) => {
        // Which nodes may go, and take pods in, is known beside it.
        const is = trueOnes(conditions).filter((each) => each !== 'Consolidatable');
        return JSON.stringify([uid, labels, taints, deletedAtMs === undefined, providerId, is]);
      }),
    ),
    sorted(
      nodePools.map(({ uid: _, conditions, ...pool }) =>
        // A condition that is missing stops nothing, one that is false does.
        JSON.stringify([pool, conditions.map(({ type, status }) => `${type} ${status}`).sort()]),
      ),
    ),
    JSON.stringify(snapshot.groupCaps),
    ...[...Object.values(small), storageClasses, csiNodes].map((list) =>
      sorted(list.map((each) => JSON.stringify(each))),
    ),
  ].join('\n\n');
}
