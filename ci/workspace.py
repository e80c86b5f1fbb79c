"""The real binary against a workspace provider that is played from its own discovery documents.

Usage: workspace.py <evidence binary> [sandbox binary]. Run by workspace.sh, which installs what it imports.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import google.oauth2.service_account
import googleapiclient.discovery
from bundle import Differs, Scenarios, Tool, expect, wait_for
from discovery import Discovery
from workspace_host import DOCUMENTS, Directory, Host

SCOPES = {
    "https://www.googleapis.com/auth/admin.directory.user.readonly",
    "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
    "https://www.googleapis.com/auth/admin.reports.audit.readonly",
}
CALLS = {"directory.users.list", "directory.roles.list", "directory.roleAssignments.list", "reports.activities.list"}


def second_client(url, file, administrator):
    """The provider's own client library: the two services it needs, signed in with the service account."""
    credentials = google.oauth2.service_account.Credentials.from_service_account_info(
        file, scopes=sorted(SCOPES), subject=administrator
    )
    return [
        googleapiclient.discovery.build(
            *name, credentials=credentials, client_options={"api_endpoint": url}, cache_discovery=False
        )
        for name in (("admin", "directory_v1"), ("admin", "reports_v1"))
    ]


def read_all(collection, member, **parameters):
    """Every member of a list, along its pages, and the pages as they came."""
    request, members, pages = collection.list(**parameters), [], []
    while request is not None:
        page = request.execute()
        pages.append(page)
        members += page.get(member, [])
        request = collection.list_next(request, page)
    return members, pages


def read_everything(url, file, administrator, customer):
    directory, reports = second_client(url, file, administrator)
    return {
        "directory.users.list": read_all(directory.users(), "users", customer=customer),
        "directory.roles.list": read_all(directory.roles(), "items", customer=customer),
        "directory.roleAssignments.list": read_all(directory.roleAssignments(), "items", customer=customer),
        "reports.activities.list": read_all(reports.activities(), "items", userKey="all", applicationName="admin"),
    }


def the_host_itself():
    """What is played here is understood by the provider's own client, and nothing is wrong with that client's requests."""
    directory = Directory()
    with Host(directory) as host:
        # That client names the public token endpoint, whatever the file says.
        host.audience = google.oauth2.service_account._GOOGLE_OAUTH2_TOKEN_ENDPOINT
        found = read_everything(host.url, host.account.file, host.administrator, "my_customer")
    expect("users", found["directory.users.list"][0], directory.users)
    expect("roles", found["directory.roles.list"][0], directory.roles)
    expect("assignments", found["directory.roleAssignments.list"][0], directory.assignments)
    expect("activities", found["reports.activities.list"][0], directory.activities)


def the_host_refuses():
    """A request that the documents do not describe is refused and written down: the checks below rest on it."""
    discovery = Discovery(*DOCUMENTS)
    users = "/admin/directory/v1/users"
    activities = "/admin/reports/v1/activity/users/all/applications"
    for http, path, query in [
        ("PUT", users, {}),
        ("GET", users + "/", {}),
        ("GET", users, {"maxResults": "501"}),
        ("GET", users, {"maxresults": "5"}),
        ("GET", users, {"projection": "all"}),
        ("GET", users, {"fields": "users(id,isEnrolledIn2SV)"}),
        ("GET", users, {"fields": "users(id"}),
        ("GET", f"{activities}/admins", {}),
        ("GET", f"{activities}/admin", {"startTime": "2026-01-01"}),
        ("GET", f"{activities}/admin", {"customerId": "42"}),
    ]:
        found = discovery.find(http, path)
        if found and not found[0].path_faults(found[1]) + found[0].faults(list(query.items())):
            raise Differs(f"{http} {path} {query} is let through")
    method, _ = discovery.find("GET", users)
    expect("a good request", method.faults([("customer", "my_customer"), ("fields", "nextPageToken,users(id,name/fullName)")]), [])
