import { describe, expect, it } from 'vitest';
import { SCIM_URL_OUTPUT } from '../../shared/contract/names.ts';
import { type CfnResource, everyResourceOf, resourcesOf, synthesise } from './synthesised.ts';

const off = synthesise().template;
const on = synthesise({ scim: true }).template;
const only = (type: string, template = on) => {
  const found = Object.entries(resourcesOf(template, type));
  if (found.length !== 1) throw new Error(`expected one ${type}, got ${found.length}`);
  const [[id, { Properties }]] = found as [[string, CfnResource]];
  return { id, Properties };
};
const scimFunction = Object.entries(resourcesOf(on, 'AWS::Lambda::Function')).find(
  ([, { Properties }]) => Properties.FunctionName === 'groupsync-scim',
);

describe('stage without SCIM', () => {
  it('a stage without SCIM has no SCIM resource and no SCIM output, and names SCIM only in the dashboard and policies', () => {
    const text = JSON.stringify({ ...off.toJSON(), Resources: undefined });
    // The policies let commands read the SCIM function even if it is missing. Otherwise AWS would not report that it is
    // missing.
    const mayNameScim = ({ Type }: CfnResource) => /Dashboard|ManagedPolicy/.test(Type);
    const others = Object.entries(everyResourceOf(off)).filter(([, one]) => !mayNameScim(one));
    expect(text + JSON.stringify(others)).not.toMatch(/scim|apigateway/i);
  });

  it('every resource except the dashboard stays unchanged when SCIM is added', () => {
    const [before, after] = [everyResourceOf(off), everyResourceOf(on)];
    const textOf = (of: typeof before, id: string) => JSON.stringify(of[id]);
    const changed = Object.keys(before).filter((id) => textOf(before, id) !== textOf(after, id));
    expect(changed.map((id) => before[id]?.Type)).toEqual(['AWS::CloudWatch::Dashboard']);
  });
});

describe('SCIM endpoint', () => {
  it('the SCIM function runs Node.js 24 on arm64 with 1 GB and tracing, and times out after 29 seconds', () => {
    expect(scimFunction?.[1].Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 1024,
      Timeout: 29,
      TracingConfig: { Mode: 'Active' },
    });
  });

  it('the gateway routes only the paths below /scim/v2, in payload format 2.0', () => {
    const routes = Object.values(resourcesOf(on, 'AWS::ApiGatewayV2::Route'));
    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual([
      'ANY /scim/v2',
      'ANY /scim/v2/{proxy+}',
    ]);
    const integration = only('AWS::ApiGatewayV2::Integration');
    expect(integration.Properties).toMatchObject({
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: { 'Fn::GetAtt': [scimFunction?.[0], 'Arn'] },
      PayloadFormatVersion: '2.0',
    });
    for (const { Properties } of routes) {
      expect(JSON.stringify(Properties.Target)).toContain(`"${integration.id}"`);
    }
  });

  it('the gateway throttles at the limits of the settings, by default 100 requests a second and a burst of 200', () => {
    const throttle = (given: Record<string, unknown>) => {
      const { DefaultRouteSettings: route } = only(
        'AWS::ApiGatewayV2::Stage',
        synthesise({ scim: true, ...given }).template,
      ).Properties;
      return [route.ThrottlingRateLimit, route.ThrottlingBurstLimit];
    };
    expect(throttle({})).toEqual([100, 200]);
    expect(throttle({ scimRequestsPerSecond: '25', scimBurst: 50 })).toEqual([25, 50]);
  });

  it('the setting scimConcurrency defines the reserved executions of the SCIM function, by default 20', () => {
    const own = (given: Record<string, unknown>) =>
      Object.values(
        resourcesOf(synthesise({ scim: true, ...given }).template, 'AWS::Lambda::Function'),
      ).flatMap(({ Properties: { FunctionName, ReservedConcurrentExecutions: reserved } }) =>
        reserved === undefined ? [] : [[FunctionName, reserved]],
      );
    expect(own({})).toEqual([['groupsync-scim', 20]]);
    expect(own({ scimConcurrency: '30' })).toEqual([['groupsync-scim', 30]]);
    expect(own({ scimConcurrency: 'none' })).toEqual([]);
  });

  it('the access log contains only the id, address, route, method, status and latency of a request', () => {
    const { AccessLogSettings } = only('AWS::ApiGatewayV2::Stage').Properties;
    expect(JSON.parse(AccessLogSettings.Format)).toEqual({
      requestId: '$context.requestId',
      sourceIp: '$context.identity.sourceIp',
      route: '$context.routeKey',
      method: '$context.httpMethod',
      status: '$context.status',
      latencyMs: '$context.responseLatency',
    });
    const [id] = AccessLogSettings.DestinationArn['Fn::GetAtt'];
    expect(resourcesOf(on, 'AWS::Logs::LogGroup')[id]?.Properties).toMatchObject({
      LogGroupName: '/aws/lambda/groupsync-scim-access',
      RetentionInDays: 30,
    });
  });

  it('the log groups have names that the key policy allows', () => {
    const policy = JSON.stringify(only('AWS::KMS::Key').Properties.KeyPolicy);
    expect(policy).toContain(':log-group:/aws/lambda/groupsync-*');
    for (const { Properties } of Object.values(resourcesOf(on, 'AWS::Logs::LogGroup'))) {
      expect(Properties.LogGroupName).toMatch(/^\/aws\/lambda\/groupsync-/);
    }
  });

  it('the SCIM base URL is an output of the stack', () => {
    const api = only('AWS::ApiGatewayV2::Api').id;
    expect(on.findOutputs(SCIM_URL_OUTPUT)[SCIM_URL_OUTPUT]?.['Value']).toEqual({
      'Fn::Join': ['', [{ 'Fn::GetAtt': [api, 'ApiEndpoint'] }, '/scim/v2']],
    });
  });
});
