"""The organization of the simulated provider, and its lists, in the provider's own forms.

Every person has a name, a phone, an address and other personal data that the tool must not collect.
"""

import datetime


class Refusal(Exception):
    """An answer other than 200, in the provider's form."""

    def __init__(self, status, answer):
        super().__init__(status)
        self.status, self.answer = status, answer


def api_error(status, reason, message, word=None):
    error = {"code": status, "message": message, "errors": [{"message": message, "domain": "global", "reason": reason}]}
    if word:
        error["status"] = word
    return Refusal(status, {"error": error})


class Directory:
    """An organization: 30 users in two domains, five roles, the changes of the last weeks."""

    CUSTOMER = "C0acme042"
    SUPER, USERS = "10001", "10002"

    def __init__(self):
        self.users = [self.user(number) for number in range(30)]
        self.user_at("user07").update(
            suspended=True, suspensionReason="ADMIN", isEnrolledIn2Sv=False, isEnforcedIn2Sv=False
        )
        self.user_at("user11").update(archived=True, isEnrolledIn2Sv=False, isEnforcedIn2Sv=False)
        self.roles = [
            self.role(self.SUPER, "_SEED_ADMIN_ROLE", isSystemRole=True, isSuperAdminRole=True),
            self.role(self.USERS, "_USER_MANAGEMENT_ADMIN_ROLE", isSystemRole=True),
            self.role("10003", "_HELP_DESK_ADMIN_ROLE", isSystemRole=True),
            self.role("10004", "_GROUPS_ADMIN_ROLE", isSystemRole=True),
        ] + [self.role(str(10010 + number), f"Custom {number}") for number in range(7)]
        self.assignments = []
        for account in ("user00", "user01"):
            self.assign(account, self.SUPER)
        for number in range(2, 10):
            if number != 7:
                self.assign(f"user{number:02}", self.USERS)
        now = datetime.datetime.now(datetime.timezone.utc)
        self.activities = [
            self.activity(now - datetime.timedelta(days=3, minutes=number), number, name)
            for number, name in enumerate(["CREATE_USER"] * 12 + ["SUSPEND_USER"] * 3 + ["DELETE_USER"] * 9)
        ]

    def user(self, number):
        account = f"user{number:02}"
        domain = "acme.example" if number < 20 else "acme.test"
        return {
            "kind": "admin#directory#user",
            "id": str(117000000000000000000 + number),
            "etag": f'"{number}"',
            "primaryEmail": f"{account}@{domain}",
            "name": {
                "givenName": f"Planted-given-{number:02}",
                "familyName": f"Planted-family-{number:02}",
                "fullName": f"Planted-full-{number:02}",
            },
            "isAdmin": False,
            "isDelegatedAdmin": False,
            "lastLoginTime": "2026-01-05T08:00:00.000Z",
            "creationTime": "2024-03-01T09:30:00.000Z",
            "agreedToTerms": True,
            "suspended": False,
            "archived": False,
            "changePasswordAtNextLogin": False,
            "ipWhitelisted": False,
            "emails": [{"address": f"planted-other-{number:02}@private.example", "type": "home"}],
            "phones": [{"value": f"+999 555 01{number:02}", "type": "mobile"}],
            "addresses": [{"type": "home", "formatted": f"{number} Planted Street"}],
            "aliases": [f"planted-alias-{number:02}@{domain}"],
            "customerId": self.CUSTOMER,
            "orgUnitPath": "/",
            "isMailboxSetup": True,
            "isEnrolledIn2Sv": True,
            "isEnforcedIn2Sv": True,
            "includeInGlobalAddressList": True,
            "recoveryEmail": f"planted-recovery-{number:02}@private.example",
            "recoveryPhone": f"+99955502{number:02}",
        }

    def planted(self):
        """Texts that must not leave the provider's answers, by kind."""
        found = {"address of an administrator's machine": "203.0.113.77"}
        for number, _ in enumerate(self.activities):
            found[f"value of activity {number}"] = f"planted-value-{number:02}"
        for user in self.users:
            account = user["primaryEmail"]
            found |= {f"{what} of {account}": user["name"][what] for what in user["name"]}
            found |= {
                f"e-mail of {account}": user["emails"][0]["address"],
                f"phone of {account}": user["phones"][0]["value"],
                f"address of {account}": user["addresses"][0]["formatted"],
                f"alias of {account}": user["aliases"][0],
                f"recovery e-mail of {account}": user["recoveryEmail"],
                f"recovery phone of {account}": user["recoveryPhone"],
            }
        return found

    def user_at(self, account):
        return next(user for user in self.users if user["primaryEmail"].startswith(f"{account}@"))

    def role(self, identifier, name, **fields):
        """The provider sends the true members of a role, and omits the false ones."""
        return {
            "kind": "admin#directory#role",
            "etag": f'"{identifier}"',
            "roleId": identifier,
            "roleName": name,
            "roleDescription": f"{name} as made for this check",
            "rolePrivileges": [{"privilegeName": "USERS_RETRIEVE", "serviceId": "00haapch16h1ysv"}],
        } | fields

    def assign(self, account, role):
        user = self.user_at(account)
        user["isAdmin" if role == self.SUPER else "isDelegatedAdmin"] = True
        self.assignments.append(
            {
                "kind": "admin#directory#roleAssignment",
                "etag": f'"{len(self.assignments)}"',
                "roleAssignmentId": str(30000 + len(self.assignments)),
                "roleId": role,
                "assignedTo": user["id"],
                "assigneeType": "user",
                "scopeType": "CUSTOMER",
            }
        )

    def unassign(self, account):
        user = self.user_at(account)
        user.update(isAdmin=False, isDelegatedAdmin=False)
        self.assignments = [one for one in self.assignments if one["assignedTo"] != user["id"]]

    def activity(self, at, number, name):
        return {
            "kind": "admin#reports#activity",
            "id": {
                "time": at.strftime("%Y-%m-%dT%H:%M:%S.") + "000Z",
                "uniqueQualifier": str(-9000000000000000000 + number),
                "applicationName": "admin",
                "customerId": self.CUSTOMER,
            },
            "etag": f'"activity-{number}"',
            "actor": {"callerType": "USER", "email": "user00@acme.example", "profileId": self.user_at("user00")["id"]},
            "ipAddress": "203.0.113.77",
            "events": [
                {
                    "type": "USER_SETTINGS",
                    "name": name,
                    "parameters": [
                        {"name": "USER_EMAIL", "value": f"changed{number:02}@acme.example"},
                        {"name": "NEW_VALUE", "value": f"planted-value-{number:02}"},
                    ],
                }
            ],
        }

    def list(self, method, values, query):
        """Kind, name and members of a list."""
        if method == "directory.users.list":
            if ("customer" in query) == ("domain" in query):
                raise api_error(400, "badRequest", "Bad Request")
            self.own(query.get("customer", self.CUSTOMER))
            domain = query.get("domain")
            found = [user for user in self.users if not domain or user["primaryEmail"].endswith("@" + domain)]
            if domain and not found:
                raise api_error(404, "notFound", "Domain not found.")
            if query.get("showDeleted") == "true":
                found = []
            # The users are already in the order of their addresses.
            unplayed(
                query,
                query=None,
                event=None,
                orderBy="email",
                sortOrder="ASCENDING",
                viewType="admin_view",
                customFieldMask=None,
            )
            return "admin#directory#users", "users", found
        if method == "directory.roles.list":
            self.own(values["customer"])
            return "admin#directory#roles", "items", self.roles
        if method == "directory.roleAssignments.list":
            self.own(values["customer"])
            unplayed(query, userKey=None, includeIndirectRoleAssignments="false")
            role = query.get("roleId")
            return (
                "admin#directory#roleAssignments",
                "items",
                [one for one in self.assignments if role in (None, one["roleId"])],
            )
        if method == "reports.activities.list":
            self.own(query.get("customerId", self.CUSTOMER))
            unplayed(values, userKey="all", applicationName="admin")
            unplayed(query, filters=None, actorIpAddress=None, orgUnitID=None, groupIdFilter=None)
            start, end = (moment(query[name]) if name in query else None for name in ("startTime", "endTime"))
            return (
                "admin#reports#activities",
                "items",
                [
                    one
                    for one in self.activities
                    if query.get("eventName") in (None, one["events"][0]["name"])
                    and (start is None or moment(one["id"]["time"]) >= start)
                    and (end is None or moment(one["id"]["time"]) <= end)
                ],
            )
        raise LookupError(f"{method} is not played here")

    def own(self, customer):
        if customer not in (self.CUSTOMER, "my_customer"):
            raise api_error(404, "notFound", "Resource Not Found: customer")


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def unplayed(given, /, **played):
    """Lets a parameter through only with the one value that is played: a filter that is accepted and not applied would
    make every comparison worthless."""
    for name, value in played.items():
        if given.get(name, value) != value:
            raise LookupError(f"{name}={given[name]} is not played here")
