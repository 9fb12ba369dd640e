import { createServer } from 'node:http';
import { DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ec2Client } from '../../../shared/aws/access.ts';
import { Calls } from '../../../shared/aws/calls.ts';
import { close, listen } from '../../support/loopback.ts';

let answered = 0;

/** Begins each answer and does not go on. */
const server = createServer((request, response) => {
  answered += 1;
  request.resume();
  response.writeHead(200, { 'content-type': 'text/xml', 'content-length': '5000' });
  response.write('<DescribeInstancesResponse>');
});
let url = '';
beforeAll(async () => {
  url = await listen(server);
});
afterAll(() => close(server));

it('an answer of AWS that stops in the middle is not waited for, and is asked for once more', async () => {
  const ec2 = ec2Client({
    region: 'eu-west-1',
    functionName: 'test',
    endpoint: url,
    credentials: { accessKeyId: 'A', secretAccessKey: 'B' },
    timeoutMs: 50,
  });
  const describing = new Calls().run('ec2:DescribeInstances', () =>
    ec2.send(new DescribeInstancesCommand({})),
  );
  await expect(describing).rejects.toMatchObject({ code: 'TimeoutError', isTransient: true });
  expect(answered).toBe(2);
});
