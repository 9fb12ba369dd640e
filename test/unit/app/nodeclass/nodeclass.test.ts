import { describe, expect, it } from 'vitest';
import { driftResults, targetsOf } from '../../../../shared/app/disrupt/drift-results.ts';
import { maintainNodeClasses } from '../../../../shared/app/nodeclass/nodeclass.ts';
import { resolveTypes } from '../../../../shared/app/planning/provisioning-input.ts';
import { withPoolConditions } from '../../../../shared/app/planning/statuses.ts';
import { portError } from '../../../../shared/aws/faults.ts';
import { conditionOf } from '../../../../shared/core/lifecycle/conditions.ts';
import type { NodeClassStatus } from '../../../../shared/core/model/node-class.ts';
import { type ClusterState, type FaultKind, PortError } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { deployment } from '../../../sim/small-world.ts';
import { overtaken, reading, runningWorld, settings, withPorts } from '../world.ts';

/** The classes with a spec of that generation, while their status is about the first. */
function withSpecOf(state: ClusterState, generation: number): ClusterState {
  const nodeClasses = state.nodeClasses.map((each) => ({
    ...each,
    generation,
    status: { ...each.status, observedGeneration: 1 },
  }));
  return { ...state, nodeClasses };
}

/** A class that was ready, after subnets could not be asked for. */
async function refused(kind: FaultKind) {
  const world = await runningWorld([]);
  const subnets = async (): Promise<never> => {
    throw new PortError(kind, 'Code', 'no');
  };
  const failures = await maintainNodeClasses(withPorts(world.ports, { network: { subnets } }));
  const [nodeClass] = readState(world.store).nodeClasses;
  const ready = nodeClass?.status.conditions.find(({ type }) => type === 'Ready');
  return { failures, ready, subnets: nodeClass?.status.subnets.length };
}

/** What is said of a class that was ready and then changed, when its images are refused so. */
async function afterChange(fault: PortError) {
  const world = await runningWorld([]);
  const events: string[] = [];
  const written: NodeClassStatus[] = [];
  const read = reading(world.ports, (state) => withSpecOf(state, 2));
  const ports = withPorts(world.ports, {
    cluster: {
      read,
      patchNodeClassStatus: async (_, status) => {
        written.push(status);
        return 'done';
      },
      event: async ({ regarding: { kind, name }, reason, message }) => {
        events.push(`${kind}/${name} ${reason} ${message}`);
      },
    },
  });
  await maintainNodeClasses({ ...ports, images: { resolve: () => Promise.reject(fault) } });
  const state = await read();
  const nodeClasses = state.nodeClasses.map((each) => ({
    ...each,
    status: written.at(-1) ?? each.status,
  }));
  const [pool] = state.objects.nodePools;
  if (pool === undefined) throw new Error('the world has no NodePool');
  const surroundings = { failed: undefined, degradations: [] };
  const told = withPoolConditions({ ...state, nodeClasses }, pool, 0, surroundings);
  const [status] = nodeClasses.map((each) => each.status);
  return {
    condition: status === undefined ? undefined : conditionOf(status, 'AMIsReady'),
    events,
    pool: conditionOf(told, 'NodeClassReady'),
  };
}

describe('an EC2NodeClass that was ready', () => {
  it.each(['throttled', 'unknown'] as const)(
    'stays so where AWS is %s for a while',
    async (kind) => {
      const { failures, ready, subnets } = await refused(kind);
      expect(ready?.status).toBe('True');
      expect(subnets).toBeGreaterThan(0);
      expect(failures).toEqual([{ object: 'EC2NodeClass/default', message: 'Code: no' }]);
    },
  );

  it('is not ready once the permission is gone, and says so in the log', async () => {
    const { failures, ready } = await refused('unauthorised');
    expect(ready?.status).toBe('False');
    expect(failures.map(({ message }) => message)).toEqual([
      'SubnetsReady is False, Unauthorised: Code: no',
    ]);
  });
});

describe('a new EC2NodeClass', () => {
  const throttled = async (): Promise<never> => {
    throw new PortError('throttled', 'RequestLimitExceeded', 'later');
  };

  it.each([
    ['its images', 'AMIsReady', { images: { resolve: throttled } }],
    ['its subnets', 'SubnetsReady', { network: { subnets: throttled } }],
    ['its profile', 'InstanceProfileReady', { profiles: { ensure: throttled } }],
    ['its validation', 'ValidationSucceeded', { compute: { check: throttled } }],
  ])('of which %s cannot be asked for a moment is looked at again soon', async (_, type, late) => {
    const world = await runningWorld([]);
    const read = reading(world.ports, (state) => ({
      ...state,
      nodeClasses: state.nodeClasses.map((each) => ({
        ...each,
        status: { ...each.status, conditions: [] },
      })),
    }));
    const written: NodeClassStatus[] = [];
    const ports = withPorts(world.ports, {
      cluster: {
        read,
        patchNodeClassStatus: async (_ref, status) => {
          written.push(status);
          return 'done';
        },
      },
    });
    const failing = {
      ...withPorts(ports, 'network' in late || 'compute' in late ? late : {}),
      ...('images' in late ? late : {}),
      ...('profiles' in late ? { profiles: { ...ports.profiles, ...late.profiles } } : {}),
    };
    let passing = 0;
    await maintainNodeClasses(failing, () => {
      passing += 1;
    });
    const [status] = written;
    const found = ['Ready', type].map((each) =>
      status === undefined ? undefined : conditionOf(status, each)?.status,
    );
    expect([passing, ...found]).toEqual([1, 'Unknown', 'Unknown']);
  });
});

it('a class that names a parameter which is not allowed says which prop to set', async () => {
  const { condition } = await afterChange(new PortError('unauthorised', 'AccessDenied', 'no'));
  expect(condition?.reason).toBe('Unauthorised');
  expect(condition?.message).toContain('has to be in the prop imageParameters');
});

/** As EC2's adapter classifies a code with this status of HTTP. */
function faultOf(code: string, httpStatusCode: number): PortError {
  const error = Object.assign(new Error('no'), { Code: code, $metadata: { httpStatusCode } });
  return portError(error, 'ec2:DescribeImages');
}

describe('an EC2NodeClass that was ready and is changed to what cannot be', () => {
  const alias = new PortError('invalid', 'UnsupportedImageAlias', 'AL2 images end with 1.32');
  it.each([
    ['an alias that there are no images of', alias, 'UnsupportedImageAlias: AL2 images end'],
    ['what EC2 refuses', faultOf('InvalidParameterValue', 400), 'InvalidParameterValue: ec2:Desc'],
  ])('%s says so to people and to its pools', async (_, fault, message) => {
    const { condition, events, pool } = await afterChange(fault);
    expect(condition).toMatchObject({ status: 'False', reason: 'ResolutionFailed' });
    expect(condition?.message).toContain(message);
    expect(events).toEqual([`EC2NodeClass/default ResolutionFailed ${condition?.message}`]);
    expect(pool).toMatchObject({ status: 'False', reason: 'ResolutionFailed' });
    expect(pool?.message).toContain(message);
  });

  it.each([
    ['EC2 has a bad moment', faultOf('InternalError', 500)],
    ['a proxy answers', faultOf('Unknown', 403)],
  ])('is not told so where %s', async (_, fault) => {
    const { condition, events, pool } = await afterChange(fault);
    expect(condition).toMatchObject({ status: 'True' });
    expect(events).toEqual([]);
    expect(pool).toMatchObject({ status: 'Unknown', reason: 'NodeClassReadinessUnknown' });
  });
});

describe("the condition PlacementGroupReady, for which Karpenter's clients wait", () => {
  const unsupported = 'spec.placementGroupSelector: placement groups are not supported';
  it.each([
    [{}, { status: 'True' }, 'True'],
    [
      { placementGroupSelector: { name: 'group' } },
      { status: 'False', reason: 'Unsupported', message: unsupported },
      'False',
    ],
  ])('of a class with %j', async (spec, condition, ready) => {
    const world = await runningWorld([]);
    const written: NodeClassStatus[] = [];
    const ports = withPorts(world.ports, {
      cluster: {
        read: reading(world.ports, (state) => ({
          ...state,
          nodeClasses: state.nodeClasses.map((each) => ({
            ...each,
            spec: { ...each.spec, ...spec },
            status: { ...each.status, conditions: [] },
          })),
        })),
        patchNodeClassStatus: async (_, status) => {
          written.push(status);
          return 'done';
        },
      },
    });
    await maintainNodeClasses(ports);
    const [{ conditions = [] } = {}] = written;
    expect(conditions.find(({ type }) => type === 'PlacementGroupReady')).toMatchObject(condition);
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: ready });
  });
});

describe('an EC2NodeClass that is being deleted', () => {
  const auto = { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' };
  it.each([
    ['stays while its claims do', {}, []],
    ["goes though EKS Auto Mode's class of that name has claims", auto, ['default']],
  ])('%s', async (_, nodeClassRef, released) => {
    const world = await runningWorld([deployment('web', 1, '1')]);
    const { cluster } = world.ports;
    const gone: string[] = [];
    const ports = withPorts(world.ports, {
      cluster: {
        read: reading(world.ports, (state) => ({
          ...state,
          nodeClasses: state.nodeClasses.map((each) => ({ ...each, isDeleting: true })),
          objects: {
            ...state.objects,
            nodeClaims: state.objects.nodeClaims.map((claim) => ({
              ...claim,
              nodeClassRef: { ...claim.nodeClassRef, ...nodeClassRef },
            })),
          },
        })),
        patchNodeClass: async (ref, patch) => {
          if (patch.removeFinalizer !== undefined) gone.push(ref.name);
          return await cluster.patchNodeClass(ref, patch);
        },
      },
    });
    expect(await maintainNodeClasses(ports)).toEqual([]);
    expect(gone).toEqual(released);
  });
});

describe('an EC2NodeClass that cannot be looked after', () => {
  it.each([
    ['its deletion meets throttling', true, 'throttled', true],
    ['its deletion is not allowed', true, 'unauthorised', false],
    ['the API server does not take its finalizer for a moment', false, 'unknown', true],
    ['its finalizer is not allowed', false, 'unauthorised', false],
  ] as const)('is looked at again soon: %s', async (_, isDeleting, kind, isSoon) => {
    const world = await runningWorld([]);
    const refuse = async (): Promise<never> => {
      throw new PortError(kind, 'Code', 'no');
    };
    const finalizers = isDeleting ? ['karpenter.k8s.aws/termination'] : [];
    const faulty = withPorts(world.ports, {
      cluster: {
        patchNodeClass: refuse,
        read: reading(world.ports, (state) => ({
          ...state,
          nodeClasses: state.nodeClasses.map((each) => ({ ...each, isDeleting, finalizers })),
        })),
      },
    });
    const ports = { ...faulty, profiles: { ...faulty.profiles, remove: refuse } };
    let times = 0;
    const failures = await maintainNodeClasses(ports, () => {
      times += 1;
    });
    expect([failures.length, times]).toEqual([1, isSoon ? 1 : 0]);
  });
});

describe('the validation of an EC2NodeClass that was ready', () => {
  it.each([
    ['throttled', 'True', 'Code: no'],
    ['unknown', 'True', 'Code: no'],
    ['invalid', 'False', 'ValidationSucceeded is False, Code: no'],
    ['unauthorised', 'False', 'ValidationSucceeded is False, Code: no'],
  ] as const)('after a fault that is %s is %s', async (kind, status, message) => {
    const world = await runningWorld([]);
    const check = async (): Promise<never> => {
      throw new PortError(kind, 'Code', 'no');
    };
    const failures = await maintainNodeClasses(withPorts(world.ports, { compute: { check } }));
    const [nodeClass] = readState(world.store).nodeClasses;
    const { conditions = [] } = nodeClass?.status ?? {};
    expect(conditions.find(({ type }) => type === 'Ready')?.status).toBe(status);
    expect(failures.map((each) => each.message)).toEqual([message]);
  });
});

describe('an EC2NodeClass whose status is about an earlier spec', () => {
  /** A world with a node, and its ports with the class at this generation, looked at in its first. */
  async function changed(generation: number, isThrottled = false) {
    const world = await runningWorld([deployment('web', 1, '1')]);
    const { network } = world.ports;
    const written: NodeClassStatus[] = [];
    const read = reading(world.ports, (state) => withSpecOf(state, generation));
    const ports = withPorts(world.ports, {
      cluster: {
        read,
        patchNodeClassStatus: async (_, status) => {
          written.push(status);
          return 'done';
        },
      },
      network: {
        subnets: async (terms) => {
          if (isThrottled) throw new PortError('throttled', 'Code', 'no');
          return await network.subnets(terms);
        },
      },
    });
    return { ports, written, state: await read() };
  }

  it.each([
    [1, 1, 1, 'True'],
    [2, 0, 0, 'Unknown'],
  ])(
    'of generation %d launches and judges nothing',
    async (generation, offered, compared, pool) => {
      const { ports, state } = await changed(generation);
      const resolution = await resolveTypes(ports, settings, state);
      expect(resolution.byNodeClass.size).toBe(offered);
      const targets = targetsOf(ports, state, resolution);
      const results = [...driftResults(state, targets, ports.clock.nowMs()).values()];
      expect(results).toHaveLength(1);
      expect(results.filter(({ target }) => target.nodeClass !== undefined)).toHaveLength(compared);
      const surroundings = { failed: undefined, degradations: [] };
      const conditions = state.objects.nodePools.map((each) =>
        conditionOf(withPoolConditions(state, each, 0, surroundings), 'NodeClassReady'),
      );
      expect(conditions.map((each) => each?.status)).toEqual([pool]);
    },
  );

  it.each([
    ['is told as current once it has been looked at', 2, false, [2]],
    ['is not told as current where AWS could not be asked', 2, true, []],
    ['is not written anew where nothing has changed', 1, false, []],
  ])('%s', async (_, generation, isThrottled, observed) => {
    const { ports, written } = await changed(generation, isThrottled);
    await maintainNodeClasses(ports);
    expect(written.map(({ observedGeneration }) => observedGeneration)).toEqual(observed);
  });
});

describe('Karpenter that comes up while a class is looked after', () => {
  /** Everything is to be written, and a condition to be told; what is written all the same. */
  async function writesAfter(during: string, isDeleting: boolean) {
    const world = await runningWorld([]);
    const found = overtaken({ ...world.ports, images: { resolve: async () => [] } }, during);
    const read = reading(found.ports, (state) => ({
      ...state,
      nodeClasses: state.nodeClasses.map((each) => ({
        ...each,
        isDeleting,
        annotations: {},
        status: { ...each.status, conditions: [] },
      })),
    }));
    const ports = withPorts(found.ports, { cluster: { read } });
    await maintainNodeClasses(ports);
    expect(found.isUp()).toBe(true);
    return found.writes;
  }

  it.each([
    'patchNodeClass',
    'subnets',
    'resolve',
    'ensure',
    'instanceTypes',
    'patchNodeClassStatus',
    'event',
  ])('finds nothing more written after %s', async (during) => {
    expect(await writesAfter(during, false)).toEqual([]);
  });

  it.each(['remove', 'removeLaunchTemplates'])('keeps a deleted one after %s', async (during) => {
    expect(await writesAfter(during, true)).toEqual([]);
  });

  it('hears no event about a write that the cluster refuses meanwhile', async () => {
    const world = await runningWorld([]);
    const { ports, writes } = overtaken(world.ports, 'removeLaunchTemplates');
    const removeLaunchTemplates = async (): Promise<never> => {
      await ports.compute.removeLaunchTemplates('default', 'used');
      throw new PortError('unknown', 'DependencyViolation', 'no');
    };
    const refusing = withPorts(ports, { compute: { removeLaunchTemplates } });
    expect(await maintainNodeClasses(refusing)).toHaveLength(1);
    expect(writes).toEqual([]);
  });
});
