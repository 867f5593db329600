import type { LeaveRecord } from './schemas/leave.ts';
import type { CompanyState } from './state/state.ts';

interface Balance {
  readonly companyLeaveType: string;
  readonly isBalanceUnlimited: boolean;
  readonly balanceWithFutureRequests?: string | number;
  readonly balanceWithoutFutureRequests?: string | number;
}

/**
 * Returns two balances of a role for each company leave type, in hours. One is the allowance minus approved and pending
 * leave. The other is the allowance minus approved leave that has begun.
 * @param today the current date as YYYY-MM-DD; leave that starts after this date counts as a future request
 * @param decimal format of the amounts. In the specification, one endpoint shows strings, and another shows numbers
 */
export function leaveBalance(
  { company, role, today }: { company: CompanyState; role: string; today: string },
  decimal: (hours: number) => string | number,
): { role: string; balances: Balance[] } {
  const requests = [...(company.leaveByRole.get(role) ?? [])]
    .map((id) => company.leaveRequests.get(id))
    .filter((request) => request !== undefined);
  const balances = Array.from(company.leaveTypes.values(), (type): Balance => {
    const common = { companyLeaveType: type.id, isBalanceUnlimited: type.isBalanceUnlimited };
    if (type.isBalanceUnlimited) return common;
    const ofType = requests.filter((request) => request.companyLeaveType === type.id);
    const begun = ofType.filter((request) => request.status === 'APPROVED' && request.startDate <= today);
    const counted = ofType.filter((request) => request.status === 'APPROVED' || request.status === 'PENDING');
    return {
      ...common,
      balanceWithFutureRequests: decimal(type.allowanceHours - takenHours(counted)),
      balanceWithoutFutureRequests: decimal(type.allowanceHours - takenHours(begun)),
    };
  });
  return { role, balances };
}

const takenHours = (requests: readonly LeaveRecord[]) =>
  requests.reduce((sum, request) => sum + request.numMinutes, 0) / 60;
