import { expect, it } from 'vitest';
import { property, text } from '../../shared/kube/list.ts';
import { WireFault } from '../support/aws/wire/response.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { claimsOf, isDeleting, ourNodes, runningPods } from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  launched,
  liveInstances,
} from '../support/closed-loop/world.ts';

/** A Lease of somebody who died is free after this. */
const LEASE_MS = 17_000;
const PODS = 4;
/** The others would keep CI waiting for minutes: `JOINER_CHAOS=all` runs them, as every night. */
const nightly = it.runIf(process.env['JOINER_CHAOS'] === 'all');

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a'] },
];

/** A NodePool and as many pods as nodes of it. */
function workload(name: string): readonly object[] {
  const pool = nodePool(name, requirements, { disruption: { consolidateAfter: '0s' } });
  return [nodeClass, pool, apart(name, PODS)];
}

/** Runs the functions as their schedule does until it is over: what some of them failed with. */
async function ticksWhile(
  loop: ClosedLoop,
  running: () => Promise<void>,
): Promise<readonly string[]> {
  const failures: string[] = [];
  let isOver = false;
  const ticking = (async () => {
    while (!isOver) {
      await loop.tick().catch((error: unknown) => void failures.push(String(error)));
    }
  })();
  try {
    await running();
  } finally {
    isOver = true;
    await ticking;
  }
  return failures;
}

/** The same with a fault that begins while `provision` waits for EC2 with its Lease held. */
async function ticksThrough(
  loop: ClosedLoop,
  fault: () => Promise<void>,
): Promise<readonly string[]> {
  const { server } = loop.cloud;
  const release = server.hold('CreateFleet');
  const held = () => server.heldCalls('CreateFleet');
  return await ticksWhile(loop, async () => {
    try {
      await expect.poll(held).toBeGreaterThan(0);
      const over = fault();
      release();
      await over;
    } finally {
      release();
    }
  });
}

/** The API server could not be asked: the fault has come to something. */
const UNREACHABLE = /cannot be reached|answered 5\d\d|timed? ?out/iu;

/** Every pod runs, and claims, nodes and instances are one to one. */
async function settle(loop: ClosedLoop, name: string): Promise<void> {
  // Whoever held a Lease when everything stopped does not give it back.
  loop.clock.pass(LEASE_MS);
  await loop.until(`${PODS} pods of ${name} run`, async () => {
    if ((await runningPods(loop, name)) !== PODS) return false;
    const claims = await claimsOf(loop, name);
    return !claims.some(isDeleting) && (await ourNodes(loop, name)).length === PODS;
  });
  const claimed = (await claimsOf(loop))
    .map((claim) =>
      text(property(property(claim, 'status'), 'providerID'))
        .split('/')
        .at(-1),
    )
    .sort();
  expect(
    liveInstances(loop)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(claimed);
}

await describeClosedLoop(
  'a control plane that fails',
  (loop) => {
    it('an API server that restarts twice during launches: each pod gets one node', async () => {
      const before = launched(loop);
      await loop.apply(workload('restarted'));
      const restarts = async (): Promise<void> => {
        await loop.plane().restartApiServer();
        await loop.plane().restartApiServer();
      };
      const failures = await ticksThrough(loop, restarts);
      expect(failures.join('\n')).toMatch(UNREACHABLE);
      await settle(loop, 'restarted');
      expect(launched(loop) - before).toBe(PODS);
    });

    it('an etcd that stands still for longer than a Lease lasts: each pod gets one node', async () => {
      const before = launched(loop);
      await loop.apply(workload('paused'));
      const failures = await ticksThrough(loop, () => loop.plane().pauseEtcd(LEASE_MS + 3_000));
      expect(failures.join('\n')).toMatch(UNREACHABLE);
      await settle(loop, 'paused');
      expect(launched(loop) - before).toBe(PODS);
    });

    nightly(
      'an API server that restarts while nodes are drained: all go, and their instances end',
      async () => {
        await loop.apply(workload('drained'));
        await settle(loop, 'drained');
        const others = liveInstances(loop).length - PODS;
        await loop.apply([apart('drained', 0)]);
        await loop.until('drains have begun', async () =>
          (await claimsOf(loop, 'drained')).some(isDeleting),
        );
        const failures = await ticksWhile(loop, () => loop.plane().restartApiServer());
        expect(failures.join('\n')).toMatch(UNREACHABLE);
        loop.clock.pass(LEASE_MS);
        const isGone = async () => (await claimsOf(loop, 'drained')).length === 0;
        await loop.until('all nodes are gone', isGone);
        expect(liveInstances(loop)).toHaveLength(others);
      },
    );

    nightly(
      'an API server that restarts under a watch: the next one wakes provision for pods that came',
      async () => {
        let isRestarted = false;
        await loop.apply([nodeClass, nodePool('watched', requirements)]);
        await loop.tick();
        const isRunning = async () => (await runningPods(loop, 'watched')) === PODS;
        const watched = loop.untilByEvents('pods run', async () => {
          if (!isRestarted) {
            isRestarted = true;
            await loop.plane().restartApiServer();
            await loop.apply([apart('watched', PODS)]);
          }
          return await isRunning();
        });
        // A watch that cannot reach the API server ends, and the next minute has another.
        expect(await watched.then(() => 'it goes on', String)).toMatch(
          /it goes on|the API server cannot be reached/u,
        );
        loop.clock.pass(60_000);
        await loop.untilByEvents('pods run', isRunning);
        await settle(loop, 'watched');
      },
    );

    nightly(
      'everything at once: EC2 refuses calls, the API server restarts and etcd stands still',
      async () => {
        const before = launched(loop);
        const busy = new WireFault('RequestLimitExceeded', 'Request limit exceeded.', 503);
        for (const operation of ['CreateFleet', 'DescribeInstances', 'CreateTags']) {
          loop.cloud.server.fail('ec2', operation, busy);
        }
        await loop.apply(workload('all'));
        const all = async (): Promise<void> => {
          await loop.plane().pauseEtcd(5_000);
          await loop.plane().restartApiServer();
          await loop.plane().pauseEtcd(LEASE_MS);
        };
        const failures = await ticksThrough(loop, all);
        expect(failures.join('\n')).toMatch(UNREACHABLE);
        const refused = loop.cloud.server.callsOf('CreateFleet').filter(({ fault }) => fault);
        expect(refused.length).toBeGreaterThan(0);
        loop.cloud.server.heal();
        // What EC2 has refused is left alone for a while.
        loop.clock.pass(5 * 60_000);
        await settle(loop, 'all');
        expect(launched(loop) - before).toBe(PODS);
      },
    );
  },
  { strangers: true, aws: 'instant', kubeletRetryMs: 500 },
);
