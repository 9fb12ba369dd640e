import { expect, it } from 'vitest';
import { interrupt } from '../../../../shared/app/interrupt/interrupt.ts';
import { settings, withPorts } from '../world.ts';
import { forEachNode, tenNodes } from './queue-messages.ts';

it('what EC2 cannot confirm takes a fifth at a time of nodes that a deleted NodePool has left', async () => {
  const world = await tenNodes();
  const messages = await forEachNode(world, 'reservation');
  const readNodePoolNotes = async () => undefined;
  const ports = withPorts(world.ports, { cluster: { readNodePoolNotes } });
  const { deleted, failedIds, failures } = await interrupt(ports, settings, messages);
  expect([deleted.length, failedIds.length, failures]).toEqual([2, 8, []]);
  expect((await interrupt(ports, settings, messages)).deleted).toEqual([]);
});
