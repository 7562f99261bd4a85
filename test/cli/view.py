"""zwang view as a browser, another user and bad requests see it:  view.py PROGRAM

Only loopback, only with the token, only the pages and the files of the model; garbage does it no harm, and Ctrl-C ends
it. The pages here are stand-ins; test/web/pages.mjs opens the real ones.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
SKIPPED = 77
ROUNDS = 3000 if os.environ.get("ZW_CAMPAIGN") == "large" else 600


def start(folder, *words):
    environment = {**os.environ, "ZWANG_STUDIO": os.path.join(folder, "studio")}
    process = subprocess.Popen([PROGRAM, "view", "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                               env=environment, text=True)
    line = process.stdout.readline()
    match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/#/view\n", line)
    if not match:
        process.wait()
        said = process.stderr.read()
        if "libmicrohttpd" in said:
            print("skipped:", said.strip())
            sys.exit(SKIPPED)
        raise AssertionError(f"{line!r}, {said!r}")
    return process, int(match[1]), match[2]


def talk(port, request, wait=3.0):
    """The answer to these bytes, as far as it comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        answer = b""
        try:
            line.sendall(request)
            line.shutdown(socket.SHUT_WR)
            part = line.recv(65536)
            while part:
                answer += part
                part = line.recv(65536)
        except OSError:
            pass
        return answer


def get(port, path, host=None, method="GET"):
    host = f"127.0.0.1:{port}" if host is None else host
    answer = talk(port, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else 0
    return status, head.decode("latin-1").lower(), body


def listeners(port):
    """The local addresses that listen on this port."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if os.path.exists(table):
            with open(table) as lines:
                for line in list(lines)[1:]:
                    local, state = line.split()[1], line.split()[3]
                    address, number = local.rsplit(":", 1)
                    if int(number, 16) == port and state == "0A":
                        found.append(address)
    return found


def garbage(random, token):
    """Bytes that are nearly a request, or not at all."""
    def noise(most):
        return bytes(random.randrange(256) for _ in range(random.randrange(most)))

    kind = random.randrange(9)
    path = random.choice([b"/", b"/" + token, b"/" + token + b"/../../etc/passwd", b"/" + token + b"/%2e%2e/%2e%2e/etc/passwd",
                          b"/" + token + b"/file/-1", b"/" + token + b"//etc/passwd", b"*", b"http://elsewhere/", noise(300)])
    method = random.choice([b"GET", b"POST", b"HEAD", b"PUT", b"CONNECT", b"TRACE", b"get", noise(20)])
    version = random.choice([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9.9", b"HTTP", noise(12)])
    request = method + b" " + path + b" " + version + b"\r\n"
    if kind == 0:
        return noise(2000)
    if kind == 1:
        return b"GET /" + b"a" * random.randrange(200000) + b" HTTP/1.1\r\n\r\n"
    if kind == 2:
        return request + b"".join(noise(40) + b": " + noise(60) + b"\r\n" for _ in range(random.randrange(300))) + b"\r\n"
    if kind == 3:
        return request + b"Content-Length: " + random.choice([b"-1", b"99999999999999999999", b"10", b"x"]) + b"\r\n\r\n" + noise(200)
    if kind == 4:
        return request + b"Transfer-Encoding: chunked\r\n\r\n" + random.choice([b"ffffffffffffffff\r\n", b"-5\r\n", b"5\r\nab", noise(50)])
    if kind == 5:
        whole = request + b"Host: x\r\n\r\n"
        return whole[:random.randrange(len(whole))]
    if kind == 6:
        return request + b"Host: " + noise(500) + b"\r\nRange: bytes=" + noise(50) + b"\r\n\r\n"
    if kind == 7:
        return (request + b"\r\n") * random.randrange(1, 40)
    return b"\0" * random.randrange(5000)


def check_pages(folder, port, token):
    status, head, body = get(port, f"/{token}/")
    assert (status, body) == (200, b"<p>the studio</p>"), (status, body)
    assert "x-content-type-options: nosniff" in head and "text/html" in head
    assert get(port, f"/{token}/assets/a.js")[2] == b"1\n"
    assert get(port, f"/{token}/assets/a.js", method="HEAD")[2] == b""
    about = json.loads(get(port, f"/{token}/view.json")[2])
    assert about["path"] == "swing.zw" and about["settings"] == {"g": 2.5}, about
    assert about["files"] == ["swing.zw", "lib/part.zw", "rec.csv"] and about["recording"] == 2, about
    for k, name in enumerate(about["files"]):
        with open(os.path.join(folder, name), "rb") as stream:
            assert get(port, f"/{token}/file/{k}")[2] == stream.read(), name


def check_strangers(port, token):
    for path in ("/", "/view.json", f"/{token}", "/" + "0" * 32 + "/", f"/{token}/file/3", f"/{token}/secret.txt", f"/{token}/assets/",
                 f"/{token}/../secret.txt", f"/{token}/%2e%2e/secret.txt", f"/{token}/swing.zw", f"/{token.upper() + 'x'}/"):
        status, _, body = get(port, path)
        assert status == 404 and b"secret" not in body, (path, status)
    for host in ("evil.example", f"evil.example:{port}", "", "127.0.0.1"):
        assert get(port, f"/{token}/", host=host)[0] in (400, 404), host
    assert get(port, f"/{token}/", host=f"localhost:{port}")[0] == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert get(port, f"/{token}/", method=method)[0] == 405, method
    assert listeners(port) == ["0100007F"], listeners(port)


def check_garbage(port, token):
    chance = random.Random(20)
    for _ in range(ROUNDS):
        answer = talk(port, garbage(chance, token.encode()), wait=0.3)
        assert b"root:" not in answer and b"secret" not in answer
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]  # they say nothing, and are no burden
    assert get(port, f"/{token}/")[0] == 200
    for line in idle:
        line.close()


def stop(process, number):
    began = time.time()
    process.send_signal(number)
    code = process.wait(timeout=10)
    assert code == 0, code
    assert time.time() - began < 3
    said = process.stderr.read()
    assert said == "", said


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("studio/assets", "lib"):
            os.makedirs(os.path.join(folder, name))
        for name, text in {"studio/index.html": "<p>the studio</p>", "studio/assets/a.js": "1\n", "secret.txt": "secret\n", "studio/.hidden": "secret\n",
                           "lib/part.zw": "param g = 9.81\n", "lib/other.zw": "secret\n", "rec.csv": "t,x\n0,1\n",
                           "swing.zw": 'include "lib/part.zw"\ncoord x = 1\nkinetic x\'^2/2\npotential g*x^2/2\n',
                           "wrong.zw": "coord x = 1\nkinetic y'^2\n"}.items():
            with open(os.path.join(folder, name), "w") as stream:
                stream.write(text)
        process, port, token = start(folder, "swing.zw", "rec.csv", "--set", "g=2.5")
        check_pages(folder, port, token)
        check_strangers(port, token)
        check_garbage(port, token)
        check_pages(folder, port, token)
        stop(process, signal.SIGINT)

        # a model with a mistake is served, and the mistake is reported here as well
        process, port, token = start(folder, "wrong.zw")
        assert get(port, f"/{token}/file/0")[0] == 200
        second = subprocess.run([PROGRAM, "view", "swing.zw", "--port", str(port)], capture_output=True, text=True, cwd=folder,
                                env={**os.environ, "ZWANG_STUDIO": os.path.join(folder, "studio")})
        assert second.returncode == 1 and "port" in second.stderr, second
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
        assert "wrong.zw:2" in process.stderr.read()

        gone = subprocess.run([PROGRAM, "view", "none.zw"], capture_output=True, text=True, cwd=folder)
        assert gone.returncode == 4 and "none.zw" in gone.stderr, gone
        empty = subprocess.run([PROGRAM, "view", "swing.zw"], capture_output=True, text=True, cwd=folder,
                               env={**os.environ, "ZWANG_STUDIO": os.path.join(folder, "lib")})
        assert empty.returncode == 1 and "make studio" in empty.stderr, empty
    print(f"pages, strangers, {ROUNDS} pieces of garbage: as they should")


main()
