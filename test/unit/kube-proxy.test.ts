import { expect, it } from 'vitest';
import { proxyOf } from '../../shared/kube/proxy.ts';

const PROXY = 'http://proxy:3128';
const EKS = 'https://ABC.gr7.eu-west-1.eks.amazonaws.com';

it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  [EKS, {}, undefined],
  [EKS, { HTTPS_PROXY: PROXY }, PROXY],
  [EKS, { https_proxy: PROXY }, PROXY],
  [EKS, { HTTPS_PROXY: '', https_proxy: PROXY }, PROXY],
  [EKS, { HTTPS_PROXY: 'proxy:3128' }, PROXY],
  [EKS, { HTTPS_PROXY: 'socks5://proxy' }, 'socks5://proxy'],
  [EKS, { HTTP_PROXY: PROXY }, undefined],
  ['http://api.example', { HTTP_PROXY: PROXY }, PROXY],
  ['https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
  ['https://127.1.2.3:6443', { HTTPS_PROXY: PROXY }, undefined],
  ['https://[::1]:6443', { HTTPS_PROXY: PROXY }, undefined],
])('%s with %j is reached through %s', (url, env, expected) => {
  expect(proxyOf(new URL(url), env)).toBe(expected);
});

it.each([
  [EKS, '*', true],
  [EKS, 'example.com, .eks.amazonaws.com', true],
  [EKS, '*.amazonaws.com', true],
  [EKS, 'amazonaws.com', true],
  [EKS, 'zonaws.com', false],
  [EKS, 'abc.gr7.EU-west-1.eks.amazonaws.com:443', true],
  [EKS, 'abc.gr7.eu-west-1.eks.amazonaws.com:6443', false],
  ['https://amazonaws.com', '.amazonaws.com', false],
  ['https://10.1.2.3', '10.0.0.0/8', true],
  ['https://10.1.2.3', '10.0.0.0/33,,10.1.2', false],
  ['https://10.1.2.3', '10.1.2.3', true],
  ['https://10.1.2.3:8443', '10.1.2.3:443', false],
  ['https://[fd00::1]', 'fd00::/8', true],
  ['https://[fd00::1]', 'fd00::1', true],
  ['https://[fd00::1]:8443', '[fd00::1]:8443', true],
])('%s with NO_PROXY %s is reached without one: %s', (url, without, expected) => {
  const env = { HTTPS_PROXY: PROXY, NO_PROXY: without };
  expect(proxyOf(new URL(url), env) === undefined).toBe(expected);
});
