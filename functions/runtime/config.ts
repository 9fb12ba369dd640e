import * as z from 'zod';
import { decodeSettings } from '../../shared/api/stack-settings.ts';
import { type AppSettings, appSettings, stackSettings } from '../../shared/app/settings.ts';
import { ENV, type FeatureGate, FUNCTION_NAMES, type FunctionName } from '../../shared/contract.ts';

/** What a function's environment says, read once in each sandbox. */
export interface Config {
  readonly cluster: string;
  readonly region: string;
  readonly account: string;
  readonly dnsSuffix: string;
  readonly functionName: FunctionName;
  readonly version: string;
  readonly bucket: string;
  readonly eventBus: string;
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  readonly memoryOverhead: number;
  readonly reservedEnis: number;
  readonly isolatedVpc: boolean;
  readonly gates: Readonly<Record<FeatureGate, boolean>>;
  readonly settings: AppSettings;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const text = z.string().min(1);

const environment = z.object({
  [ENV.cluster]: text,
  AWS_REGION: text,
  [ENV.account]: z.string().regex(/^[0-9]{12}$/, { message: 'must be twelve digits' }),
  [ENV.dnsSuffix]: text.default('amazonaws.com'),
  [ENV.function]: z.enum(FUNCTION_NAMES),
  [ENV.version]: text,
  [ENV.bucket]: text,
  [ENV.eventBus]: text,
});

/** Reads the environment; every fault is named at once, with the variable's name. */
export function readConfig(env: Environment): Config {
  const parsed = environment.safeParse(env);
  const decoded = decodeSettings(env);
  if (!parsed.success || !decoded.ok) {
    const faults = [
      ...(parsed.error?.issues ?? []).map((issue) => ({ ...issue, path: issue.path.join('.') })),
      ...(decoded.ok ? [] : decoded.issues),
    ].map(({ path, message }) => `${path}: ${message}`);
    throw new Error(`the function's environment is not valid: ${faults.join('; ')}`);
  }
  const { data } = parsed;
  const { value: settings } = decoded;
  const stack = stackSettings(settings);
  const envelope = { accountId: data[ENV.account], region: data.AWS_REGION };
  return {
    cluster: data[ENV.cluster],
    region: data.AWS_REGION,
    account: data[ENV.account],
    dnsSuffix: data[ENV.dnsSuffix],
    functionName: data[ENV.function],
    version: data[ENV.version],
    bucket: data[ENV.bucket],
    eventBus: data[ENV.eventBus],
    batchIdleMs: settings.batchIdleDuration,
    batchMaxMs: settings.batchMaxDuration,
    memoryOverhead: stack.memoryOverhead,
    reservedEnis: stack.reservedEnis,
    isolatedVpc: settings.isolatedVpc,
    gates: stack.gates,
    settings: appSettings(data[ENV.cluster], envelope, stack.useCases),
  };
}
