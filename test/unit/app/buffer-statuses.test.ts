import { expect, it } from 'vitest';
import { writeBufferStatuses } from '../../../shared/app/capacity-buffers.ts';
import { type CapacityBuffer, PortError } from '../../../shared/ports.ts';
import { planOf } from '../../builders/scheduling.ts';
import { waitingWorld, withPorts } from './world.ts';

const buffer = (name: string, refusal?: string): CapacityBuffer => ({
  namespace: 'team',
  name,
  uid: name,
  generation: 1,
  provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
  replicas: 1,
  percentage: undefined,
  limits: {},
  target: {
    kind: 'absent',
    what: 'PodTemplate',
    name: 'slot',
    ...(refusal === undefined ? {} : { refusal }),
  },
  conditions: [],
});

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
  const buffers = [buffer('a'), buffer('b', 'get podtemplates/team/slot: no'), buffer('c')];
  expect(await writeBufferStatuses(ports, buffers, planOf({}))).toEqual([
    { object: 'CapacityBuffer/team/a', message: '422: a webhook refuses' },
  ]);
  expect(Object.fromEntries(messages)).toEqual({
    b: 'get podtemplates/team/slot: no',
    c: 'PodTemplate slot does not exist',
  });
});
