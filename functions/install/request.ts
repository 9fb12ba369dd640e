import { INSTALL_STEPS, type InstallStep } from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';

/** What CloudFormation asks of a custom resource, as far as it matters. */
export interface InstallRequest {
  readonly type: 'Create' | 'Update' | 'Delete';
  /** Where the answer goes. */
  readonly responseUrl: string;
  readonly stackId: string;
  readonly requestId: string;
  readonly logicalResourceId: string;
  /** Never changes, so that CloudFormation never replaces. */
  readonly physicalResourceId: string;
  readonly step: InstallStep;
  readonly cluster: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Of an Update: those of before. */
  readonly oldProperties: Readonly<Record<string, string>>;
}

/** Where the answer goes is known even of requests that cannot be read otherwise. */
export type DecodedRequest =
  | { readonly ok: true; readonly request: InstallRequest }
  | { readonly ok: false; readonly message: string; readonly answerTo: AnswerAddress };

export type AnswerAddress = Pick<
  InstallRequest,
  'responseUrl' | 'stackId' | 'requestId' | 'logicalResourceId' | 'physicalResourceId'
>;

/** Throws where nobody waits for an answer: the event is not CloudFormation's. */
export function decodeRequest(event: unknown): DecodedRequest {
  const read = (name: string): string => text(property(event, name));
  const answerTo: AnswerAddress = {
    responseUrl: read('ResponseURL'),
    stackId: read('StackId'),
    requestId: read('RequestId'),
    logicalResourceId: read('LogicalResourceId'),
    physicalResourceId: read('PhysicalResourceId') || `joiner-${read('LogicalResourceId')}`,
  };
  if (!URL.canParse(answerTo.responseUrl)) {
    throw new Error('the event is not a request of CloudFormation: it has no ResponseURL');
  }
  const properties = texts(property(event, 'ResourceProperties'));
  const oldProperties = texts(property(event, 'OldResourceProperties'));
  const type = TYPES.find((each) => each === read('RequestType'));
  const step = Object.values(INSTALL_STEPS).find((each) => each === properties['Step']);
  const cluster = properties['Cluster'] ?? '';
  if (type === undefined || step === undefined || cluster === '') {
    const message =
      `RequestType is "${read('RequestType')}", Step "${properties['Step']}" and Cluster ` +
      `"${cluster}": valid are ${TYPES.join(', ')}, ${Object.values(INSTALL_STEPS).join(', ')} ` +
      "and a cluster's name";
    return { ok: false, message, answerTo };
  }
  return { ok: true, request: { ...answerTo, type, step, cluster, properties, oldProperties } };
}

const TYPES = ['Create', 'Update', 'Delete'] as const;

function texts(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, text(each)]));
}
