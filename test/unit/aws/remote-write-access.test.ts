import type { SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import { Calls } from '../../../shared/aws/calls.ts';
import { authorizationOf, signerFor } from '../../../shared/aws/remote-write-access.ts';
import {
  isSecretArn,
  parameterOf,
  prometheusRegion,
  workspaceId,
} from '../../../shared/contract/remote-write.ts';

const SECRET = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:team/prometheus-AbCdEf';
const WORKSPACE =
  'https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-1234/api/v1/remote_write';
const body = new TextEncoder().encode('body');
const headers = { host: 'prometheus.example.com' };

function parts(endpoint: string, secret?: string, values: readonly string[] = []) {
  const asked: unknown[] = [];
  let nowMs = 0;
  const send = async ({ input }: { readonly input: unknown }) => {
    asked.push(input);
    return { Parameter: { Value: values[Math.min(asked.length, values.length) - 1] } };
  };
  const calls = new Calls({ nowMs: () => nowMs, sleep: async () => undefined });
  const credentials = async () => ({ accessKeyId: 'AKID', secretAccessKey: 'key' });
  const ssm = { send } as unknown as SSMClient;
  const signer = signerFor({ endpoint: new URL(endpoint), secret, ssm, calls, credentials });
  return {
    asked,
    pass: (ms: number) => {
      nowMs += ms;
    },
    sign: () => signer(new URL(endpoint), headers, body),
  };
}

describe('requests', () => {
  it('to a workspace of AWS are signed for the region of the workspace', async () => {
    const signed = await parts(WORKSPACE).sign();
    expect(signed['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/aps\/aws4_request, SignedHeaders=host;/,
    );
    expect(signed['x-amz-content-sha256']).toBe(
      '230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5',
    );
  });

  it('to other endpoints without a secret have no credentials', async () => {
    expect(await parts('http://prometheus.monitoring:9090/api/v1/write').sign()).toEqual(headers);
  });

  it('have the secret, which is read again after ten minutes', async () => {
    const { asked, pass, sign } = parts('https://example.com/write', SECRET, ['one', 'two']);
    expect(await sign()).toEqual({ ...headers, authorization: 'Bearer one' });
    pass(599_999);
    expect((await sign())['authorization']).toBe('Bearer one');
    pass(1);
    expect((await sign())['authorization']).toBe('Bearer two');
    const Name = '/aws/reference/secretsmanager/team/prometheus';
    expect(asked).toEqual([
      { Name, WithDecryption: true },
      { Name, WithDecryption: true },
    ]);
  });

  it('are not made where the secret is empty', async () => {
    await expect(parts('https://example.com/write', SECRET, [' ']).sign()).rejects.toThrow(
      `the secret ${SECRET} is empty`,
    );
  });
});

describe('a secret', () => {
  it.each([
    ['token', 'Bearer token'],
    ['{"token":"t"}', 'Bearer t'],
    ['{"username":"1234","password":"pass:word"}', `Basic ${btoa('1234:pass:word')}`],
  ])('%s', (text, header) => {
    expect(authorizationOf(text, SECRET)).toBe(header);
  });

  it.each(['{', '{}', '{"username":"a"}', '{"token":""}'])(
    'of another form is refused without its text: %s',
    (text) => {
      expect(() => authorizationOf(text, SECRET)).toThrow(
        `the secret ${SECRET} has to be a token, {"token": …} or {"username": …, "password": …}`,
      );
    },
  );

  const SSM = 'arn:aws:ssm:eu-west-1:111122223333:parameter/';
  it.each([
    [SECRET, '/aws/reference/secretsmanager/team/prometheus'],
    [`${SSM}team/prometheus`, '/team/prometheus'],
    [`${SSM}prometheus`, 'prometheus'],
  ])('%s is the parameter %s', (arn, name) => {
    expect(isSecretArn(arn)).toBe(true);
    expect(parameterOf(arn)).toBe(name);
  });

  it.each([
    'team/prometheus',
    'arn:aws:secretsmanager:eu-west-1:111122223333:secret:prometheus',
    `${SSM}a*`,
    'arn:aws:s3:::bucket',
  ])('%s is none', (arn) => {
    expect(isSecretArn(arn)).toBe(false);
  });
});

it.each([
  [WORKSPACE, 'eu-west-1', 'ws-1234'],
  [
    'https://aps-workspaces.cn-north-1.amazonaws.com.cn/workspaces/ws-1/api/v1/remote_write',
    'cn-north-1',
    'ws-1',
  ],
  ['https://aps-workspaces.eu-west-1.amazonaws.com/api/v1/remote_write', 'eu-west-1', undefined],
  [
    'https://aps-workspaces.eu-west-1.amazonaws.com.evil.com/workspaces/ws-1/api/v1/remote_write',
    undefined,
    'ws-1',
  ],
])('of %s the region is %s and the workspace %s', (text, region, id) => {
  expect([prometheusRegion(new URL(text)), workspaceId(new URL(text))]).toEqual([region, id]);
});
