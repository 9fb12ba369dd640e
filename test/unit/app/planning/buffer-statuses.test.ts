import { describe, expect, it } from 'vitest';
import {
  ACTIVE_CAPACITY,
  writeBufferStatuses,
} from '../../../../shared/app/planning/capacity-buffers.ts';
import type { ResourceQuota } from '../../../../shared/core/model/resource-quota.ts';
import {
  type CapacityBuffer,
  type CapacityBufferStatusPatch,
  PortError,
} from '../../../../shared/ports.ts';
import { bufferOf } from '../../../builders/capacity-buffers.ts';
import { PLAIN_SPEC, planOf } from '../../../builders/scheduling.ts';
import { waitingWorld, withPorts } from '../world.ts';

const absent = { kind: 'absent', what: 'PodTemplate', name: 'slot' } as const;

it('a buffer says why its template is not there, though the status of another is refused', async () => {
  const { ports: around } = await waitingWorld([]);
  const messages = new Map<string, string | undefined>();
  const ports = withPorts(around, {
    cluster: {
      patchCapacityBufferStatus: async ({ name }, { conditions }) => {
        if (name === 'a') throw new PortError('unknown', '422', 'a webhook refuses');
        messages.set(name, conditions.find(({ type }) => type === 'ReadyForProvisioning')?.message);
        return 'done';
      },
    },
  });
  const capacityBuffers = [
    bufferOf('a', absent),
    bufferOf('b', { ...absent, refusal: 'get podtemplates/team/slot: no' }),
    bufferOf('c', absent),
  ];
  expect(
    await writeBufferStatuses(ports, { capacityBuffers, resourceQuotas: [] }, planOf({})),
  ).toEqual([{ object: 'CapacityBuffer/team/a', message: '422: a webhook refuses' }]);
  expect(Object.fromEntries(messages)).toEqual({
    b: 'get podtemplates/team/slot: no',
    c: 'PodTemplate slot does not exist',
  });
});

describe('a status', () => {
  const found = {
    kind: 'resolved',
    podTemplate: 'slot',
    podTemplateGeneration: 1,
    podLabels: {},
    podSpec: PLAIN_SPEC,
    workloadReplicas: undefined,
  } as const;
  const before: CapacityBuffer = { ...bufferOf('a', found), replicas: 8 };
  const room = Array.from({ length: 8 }, (_, at) => `team/a:buffer-${at}`);

  /** What is written of the buffer while there is room for so many of its replicas. */
  async function written(
    buffer: CapacityBuffer,
    fits: number,
    resourceQuotas: readonly ResourceQuota[] = [],
    pods = room.slice(0, fits),
  ) {
    const { ports: around } = await waitingWorld([]);
    const statuses: CapacityBufferStatusPatch[] = [];
    const ports = withPorts(around, {
      cluster: {
        patchCapacityBufferStatus: async (_, status) => {
          statuses.push(status);
          return 'done';
        },
      },
    });
    const plan = { ...planOf({}), existing: [{ node: 'n', pods }] };
    const state = { capacityBuffers: [buffer], resourceQuotas };
    await writeBufferStatuses(ports, state, plan);
    return statuses;
  }

  /** As it is read once that has been written. */
  async function settled(): Promise<CapacityBuffer> {
    const [first] = await written(before, 8);
    if (first === undefined) throw new Error('nothing was written');
    const { conditions, ...status } = first;
    return { ...before, status, conditions };
  }

  it('that says so already is not written again', async () => {
    expect(await written(await settled(), 8)).toEqual([]);
  });

  it.each<[string, Partial<CapacityBuffer>, number, Partial<CapacityBufferStatusPatch>]>([
    ['fewer replicas', { replicas: 3 }, 3, { replicas: 3 }],
    ['another template', { target: { ...found, podTemplate: 'b' } }, 8, { podTemplate: 'b' }],
    [
      'a changed template',
      { target: { ...found, podTemplateGeneration: 2 } },
      8,
      { podTemplateGeneration: 2 },
    ],
    [
      'a workload instead of a template',
      { target: { ...found, podTemplate: undefined, podTemplateGeneration: undefined } },
      8,
      { podTemplate: undefined, podTemplateGeneration: undefined },
    ],
  ])('follows %s, though its conditions stay', async (_, change, fits, says) => {
    const buffer = { ...(await settled()), ...change };
    expect(await written(buffer, fits)).toMatchObject([
      { provisioningStrategy: ACTIVE_CAPACITY, conditions: buffer.conditions, ...says },
    ]);
  });

  it('follows its conditions', async () => {
    const [status] = await written(await settled(), 7);
    expect(status?.conditions.map(({ reason }) => reason)).toContain('RequiresNewCapacity');
  });

  it.each(['replicas', 'provisioningStrategy'] as const)('gets %s back', async (field) => {
    const buffer = await settled();
    const lost = { ...buffer, status: { ...buffer.status, [field]: undefined } };
    expect(await written(lost, 8)).toMatchObject([buffer.status]);
  });

  it('counts neither pods of the cluster nor those of another buffer as its replicas', async () => {
    const pods = ['a-buffer-0', 'a:buffer-0', 'a-buffer-1:buffer-0'].map((name) => `team/${name}`);
    const [status] = await written(before, 0, [], pods);
    const message = '7 of 8 replicas need new nodes';
    expect(status?.conditions).toContainEqual(expect.objectContaining({ message }));
  });

  it('says which ResourceQuota allows less, until it does not', async () => {
    const most = { namespace: 'team', name: 'most', used: {}, scopes: [], hard: { pods: 3 } };
    const limits = ({ conditions }: CapacityBufferStatusPatch) =>
      conditions.find(({ type }) => type === 'LimitedByQuotas');
    const [less] = await written(before, 3, [most]);
    if (less === undefined) throw new Error('nothing was written');
    expect(less.replicas).toBe(3);
    const message = 'ResourceQuota most: room for 3 of 8 replicas';
    expect(limits(less)).toMatchObject({ status: 'True', reason: 'LimitedByQuotas', message });
    const { conditions, ...status } = less;
    const [after] = await written({ ...before, status, conditions }, 8);
    expect(after?.replicas).toBe(8);
    expect(after && limits(after)).toMatchObject({ status: 'False', reason: 'WithinQuotas' });
  });
});
