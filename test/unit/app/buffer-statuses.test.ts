import { expect, it } from 'vitest';
import { writeBufferStatuses } from '../../../shared/app/capacity-buffers.ts';
import { Shadow } from '../../../shared/app/shadow.ts';
import { PortError } from '../../../shared/ports.ts';
import { bufferOf } from '../../builders/capacity-buffers.ts';
import { planOf } from '../../builders/scheduling.ts';
import { waitingWorld, withPorts } from './world.ts';

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
  const buffers = [
    bufferOf('a', absent),
    bufferOf('b', { ...absent, refusal: 'get podtemplates/team/slot: no' }),
    bufferOf('c', absent),
  ];
  const shadow = new Shadow(ports, await ports.cluster.read(), ports.clock.nowMs());
  expect(await writeBufferStatuses({ ports, shadow }, buffers, planOf({}))).toEqual([
    { object: 'CapacityBuffer/team/a', message: '422: a webhook refuses' },
  ]);
  expect(Object.fromEntries(messages)).toEqual({
    b: 'get podtemplates/team/slot: no',
    c: 'PodTemplate slot does not exist',
  });
});
