import { CreateFleetCommand, type CreateFleetResult, type EC2Client } from '@aws-sdk/client-ec2';
import { sha256 } from '../core/launch/sha256.ts';
import { FLEET } from '../core/model/labels.ts';
import type { FleetRequest, FleetResult, Instance } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Calls } from './calls.ts';
import { httpStatusOf } from './faults.ts';
import { cappedOverrides, fleetInput, fleetResult } from './fleet-request.ts';
import type { LaunchTemplates, TemplateUse } from './launch-templates.ts';

export interface FleetParts {
  readonly ec2: EC2Client;
  readonly calls: Calls;
  readonly templates: LaunchTemplates;
  /** The cluster's instances. */
  readonly list: () => Promise<readonly Instance[]>;
}

/** An earlier call with the same token, for other claims or at other prices, was accepted. */
const TOKEN_USED = 'IdempotentParameterMismatch';
/** Instances of one call are all visible by then. https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html */
const VISIBLE_MS = 60_000;
const TEMPLATE_GONE = /^InvalidLaunchTemplate(Name|Id)\.NotFound/;

/** Instances by CreateFleet: what was launched is known, or the same token is said again. */
export class Fleets {
  private readonly parts: FleetParts;
  /** Calls under way by token: whoever asks for the same group meanwhile shares the answer. */
  private readonly underWay = new Map<string, Promise<FleetResult>>();
  /** Tokens of accepted calls of which no instance is seen, and when we learnt of each. */
  private readonly usedTokens = new Map<string, number>();

  constructor(parts: FleetParts) {
    this.parts = parts;
  }

  async launch(fleet: FleetRequest): Promise<FleetResult> {
    const before = this.underWay.get(fleet.clientToken);
    if (before !== undefined) return before;
    const result = this.launchOnce({ ...fleet, overrides: cappedOverrides(fleet.overrides) });
    this.underWay.set(fleet.clientToken, result);
    try {
      return await result;
    } finally {
      this.underWay.delete(fleet.clientToken);
    }
  }

  private async launchOnce(fleet: FleetRequest): Promise<FleetResult> {
    const { templates } = this.parts;
    const uses = await templates.forFleet(fleet);
    const first = await this.callFleet(fleet, uses);
    if (first !== undefined) return first;
    const again = await templates.forFleet(fleet);
    // The first token may have been used up by an answer without instances.
    const token = sha256(`${fleet.clientToken}#templates`);
    const second = await this.callFleet({ ...fleet, clientToken: token }, again);
    if (second !== undefined) return second;
    const code = 'InvalidLaunchTemplateName.NotFoundException';
    throw new PortError('not-found', code, 'ec2:CreateFleet: a launch template vanished twice');
  }

  /** Undefined: a launch template is gone and nothing was launched. One that is gone is forgotten. */
  private async callFleet(
    fleet: FleetRequest,
    uses: readonly TemplateUse[],
  ): Promise<FleetResult | undefined> {
    const { ec2, calls, templates } = this.parts;
    const command = new CreateFleetCommand(fleetInput(fleet, uses));
    let answer: CreateFleetResult;
    try {
      answer = await calls.run('ec2:CreateFleet', () => ec2.send(command));
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      if (TEMPLATE_GONE.test(error.code)) {
        templates.forget(uses);
        return undefined;
      }
      if (error.code === TOKEN_USED && !(await this.isSettled(fleet))) throw error;
      return refused(fleet, error);
    }
    const isGone = (answer.Errors ?? []).some((each) => TEMPLATE_GONE.test(each.ErrorCode ?? ''));
    if (isGone) templates.forget(uses);
    return isGone && (answer.Instances ?? []).length === 0 ? undefined : fleetResult(fleet, answer);
  }

  /**
   * Whether everything that the token has launched can be seen: then the rest may be asked anew.
   * Where nothing is seen the call may have been accepted as late as when we first learnt of it.
   */
  private async isSettled(fleet: FleetRequest): Promise<boolean> {
    const token = fleet.tags[FLEET] ?? fleet.clientToken;
    const nowMs = this.parts.calls.timing.nowMs();
    const learntAtMs = this.usedTokens.get(token) ?? nowMs;
    const launched = (await this.parts.list()).filter((each) => each.tags[FLEET] === token);
    const lastMs =
      launched.length === 0 ? learntAtMs : Math.max(...launched.map((each) => each.launchedAtMs));
    const isSettled = nowMs >= lastMs + VISIBLE_MS;
    if (isSettled) this.usedTokens.delete(token);
    else this.usedTokens.set(token, learntAtMs);
    return isSettled;
  }
}

/**
 * A refusal of the whole call is an answer: nothing was launched. Only where that is not known is
 * the error thrown, so that the same token is sent again.
 */
function refused(fleet: FleetRequest, error: PortError): FleetResult {
  const status = httpStatusOf(error.cause);
  if (error.kind === 'throttled' || status === undefined || status >= 500) throw error;
  return fleetResult(fleet, { Errors: [{ ErrorCode: error.code, ErrorMessage: error.message }] });
}
