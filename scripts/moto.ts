import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** moto, an emulator of AWS in Python (pip install 'moto[server]'), on loopback. */
export interface Moto {
  readonly url: string;
  stop(): void;
}

/** Of everything that is made in moto. */
export const REGION = 'eu-west-1';

const START_MS_MAX = 30_000;

/**
 * Of moto 5.2: a Ref to an event bus gives an object, which then fails as a name; there is no
 * termination protection; what an update removes is deleted whatever its DeletionPolicy says. A
 * stack without a change set waits for functions of custom resources, which do not run.
 */
const MOTO = `
import sys
import moto.events.models as events
from moto.cloudformation.responses import CloudFormationResponse
events.EventBus.physical_resource_id = property(lambda self: self.name)
PROTECTED = '<UpdateTerminationProtectionResponse><UpdateTerminationProtectionResult/></UpdateTerminationProtectionResponse>'
CloudFormationResponse.update_termination_protection = lambda self: PROTECTED
from moto.cloudformation.custom_model import CustomModel
CustomModel.is_created = lambda self: True
from moto.cloudformation.parsing import ResourceMap
delete = ResourceMap._delete_resource
RETAINED = ('Retain', 'RetainExceptOnCreate')
def unless_retained(self, resource, definition):
    if definition.get('DeletionPolicy') not in RETAINED:
        delete(self, resource, definition)
ResourceMap._delete_resource = unless_retained
from moto.server import main
main(sys.argv[1:])
`;

/** Throws where it does not answer within half a minute. */
export async function startMoto(): Promise<Moto> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const moto = spawn('python3', ['-c', MOTO, '-H', '127.0.0.1', '-p', String(port)], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    await untilReady(url, moto);
  } catch (error) {
    moto.kill();
    throw error;
  }
  return { url, stop: () => moto.kill() };
}

async function untilReady(url: string, moto: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  for (;;) {
    const isUp = await fetch(`${url}/moto-api/`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return;
    if (moto.exitCode !== null || Date.now() > deadline) {
      throw new Error("moto did not start; install it with: pip install 'moto[server]'");
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no free port');
  return address.port;
}

/** The environment of a program that takes moto for AWS. */
export function motoEnvironment(url: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${join(import.meta.dirname, '../node_modules/.bin')}:${process.env['PATH']}`,
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
    AWS_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
}

/** moto tells services apart by the signature's scope and does not check the signature. */
export async function callMoto(url: string, service: string, init: RequestInit): Promise<string> {
  const scope = `testing/20260101/${REGION}/${service}/aws4_request`;
  const headers = new Headers(init.headers);
  headers.set(
    'authorization',
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`,
  );
  const response = await fetch(url, { ...init, headers });
  return await response.text();
}
