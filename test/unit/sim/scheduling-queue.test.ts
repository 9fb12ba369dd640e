import { describe, expect, it } from 'vitest';
import { readState } from '../../../shared/sim/decode.ts';
import { withSpec, withStatus } from '../../../shared/sim/objects.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { type Binding, schedule } from '../../../shared/sim/scheduler/schedule.ts';
import { Scheduler } from '../../../shared/sim/scheduler/scheduler.ts';
import { schedulerView } from '../../../shared/sim/scheduler/view.ts';
import { type KubeObject, ObjectStore } from '../../../shared/sim/store.ts';
import { Timeline } from '../../../shared/sim/timeline.ts';

function node(name: string, cpu: number, taints: readonly object[] = []) {
  const allocatable = { cpu: String(cpu), memory: '64Gi', pods: '20' };
  const status = { allocatable, capacity: allocatable };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { taints }, status };
}

function pod(name: string, cpu: number, more: object = {}) {
  const container = { name: 'app', image: 'app', resources: { requests: { cpu: `${cpu}` } } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [container], ...more },
    status: { phase: 'Pending' },
  };
}

const CLOSED = { key: 'closed', effect: 'NoSchedule' };

/** A scheduler that writes what it decides, and what a scheduler would do that tries every pod. */
class Cluster {
  readonly store = new ObjectStore(new Timeline(0), 1);
  private readonly scheduler = new Scheduler(this.store);

  /** Pods that were tried, each with its node. */
  cycle(): Readonly<Record<string, string | undefined>> {
    const bindings = this.scheduler.schedule();
    for (const each of bindings) this.write(each);
    this.scheduler.park(bindings);
    return Object.fromEntries(bindings.map((each) => [each.pod.name, each.node]));
  }

  ofAll(): readonly string[] {
    return placed(schedule(schedulerView(readState(this.store).objects)));
  }

  private write({ pod: { namespace, name }, node: nodeName }: Binding): void {
    const object = this.store.get('Pod', namespace, name);
    if (object === undefined) return;
    this.store.update(object, (latest) =>
      nodeName === undefined ? withStatus(latest, { tried: true }) : withSpec(latest, { nodeName }),
    );
  }

  change(kind: string, name: string, change: (object: KubeObject) => KubeObject): void {
    const object = this.store.get(kind, kind === 'Pod' ? 'default' : undefined, name);
    if (object !== undefined) this.store.update(object, change);
  }
}

function placed(bindings: readonly Binding[]): readonly string[] {
  return bindings.flatMap((each) =>
    each.node === undefined ? [] : [`${each.pod.name} ${each.node}`],
  );
}

describe("the simulated scheduler's queue", () => {
  it('tries a pod again when a node that may take it changes, and not before', () => {
    const cluster = new Cluster();
    cluster.store.create(node('small', 1));
    cluster.store.create(pod('large', 4));
    expect(cluster.cycle()).toEqual({ large: undefined });
    expect(cluster.cycle()).toEqual({});
    cluster.store.create(node('closed', 8, [CLOSED]));
    expect(cluster.cycle()).toEqual({});
    cluster.change('Node', 'closed', (object) => withSpec(object, { taints: [] }));
    expect(cluster.cycle()).toEqual({ large: 'closed' });
  });

  it('tries a pod again when another makes room, and one that the store has anew', () => {
    const cluster = new Cluster();
    cluster.store.create(node('only', 4));
    cluster.store.create(pod('first', 3));
    expect(cluster.cycle()).toEqual({ first: 'only' });
    cluster.store.create(pod('second', 3));
    expect(cluster.cycle()).toEqual({ second: undefined });
    expect(cluster.cycle()).toEqual({});
    cluster.change('Pod', 'first', (object) => withStatus(object, { phase: 'Succeeded' }));
    expect(cluster.cycle()).toEqual({ second: 'only' });
  });

  it('leaves a pod with resource claims pending: no devices are simulated', () => {
    const cluster = new Cluster();
    cluster.store.create(node('only', 4));
    const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }];
    cluster.store.create(pod('claiming', 1, { resourceClaims }));
    expect(cluster.cycle()).toEqual({ claiming: undefined });
  });

  it('keeps trying what depends on more than one node', () => {
    const cluster = new Cluster();
    const podAffinityTerm = { labelSelector: { matchLabels: { a: 'b' } }, topologyKey: 'zone' };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm] };
    cluster.store.create(pod('with', 1, { affinity: { podAffinity: required } }));
    expect(cluster.cycle()).toEqual({ with: undefined });
    expect(cluster.cycle()).toEqual({ with: undefined });
  });

  it.each([1, 2, 3, 4, 5])('binds as one that tries all pods would, seed %i', (seed) => {
    const random = new Prng(seed, 'queue');
    const cluster = new Cluster();
    for (let step = 0; step < 60; step += 1) {
      const name = `n${random.between(0, 5)}`;
      const isClosed = random.between(0, 1) === 1;
      const taints = isClosed ? [CLOSED] : [];
      const nominatedNodeName = random.between(0, 3) === 0 ? name : undefined;
      const made = pod(`p${step}`, random.between(1, 4), { priority: random.between(0, 1) * 10 });
      if (step % 3 === 0) cluster.store.create(node(name, random.between(2, 8), taints));
      if (step % 4 === 0) {
        cluster.change('Node', name, (object) => withSpec(object, { taints }));
        cluster.change('Pod', `p${random.between(0, step)}`, (object) =>
          withStatus(object, { phase: 'Succeeded' }),
        );
      }
      cluster.store.create({ ...made, status: { ...made.status, nominatedNodeName } });
      const all = cluster.ofAll();
      const own = cluster.cycle();
      const found = Object.entries(own).flatMap(([each, to]) => (to ? [`${each} ${to}`] : []));
      expect(found.toSorted()).toEqual(all.toSorted());
    }
  });
});
