package iceberglite.catalog.rest

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.{Millis, Seconds, Span}

import com.sun.net.httpserver.HttpExchange

import iceberglite.catalog.rest.StubServer._
import iceberglite.servers.RefusingPort
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.table.TableIdentifier

/** Tests that requests to broken or malicious servers fail with one clear error, and reveal no secrets. */
class RestHostileSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds), Span(10, Millis))

  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "GET /v1/namespaces/db/tables/t"
  private val secrets = Seq("t0ken-of-mine", "s3cret-of-mine", "pa55word")

  private def failure(body: => Any): IcebergError = {
    val error = intercept[IcebergError](body)
    val all =
      Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).flatMap(e => Option(e.getMessage)).toVector
    secrets.foreach(secret => assert(!all.exists(_.contains(secret)), "no message may show a secret"))
    assert(error.getMessage.length < 3000 && !error.getMessage.exists(c => c.isControl))
    error
  }

  test("redirects of any status are not followed, and the error contains the target") {
    withStub { otherServer =>
      Seq(301, 302, 303, 307, 308).foreach { status =>
        withStub { stub =>
          stub.on("GET /v1/config")(
            answer(status).withHeader("Location" -> s"${otherServer.uri}/v1/config?token=t0ken-of-mine")
          )
          val error = failure(stub.catalog("token" -> "t0ken-of-mine").listNamespaces(Vector.empty))
          assert(error.getMessage.contains(otherServer.uri) && error.getMessage.contains("Set uri"))
        }
      }
      assert(otherServer.requests.isEmpty)
    }
  }

  test("a configuration response that sets another server for the catalog or for tokens is rejected") {
    withStub { otherServer =>
      Seq("uri", "oauth2-server-uri").foreach { key =>
        withStub { stub =>
          stub.on("GET /v1/config")(json(s"""{"overrides":{"$key":"${otherServer.uri}/tokens"}}"""))
          val error = failure(stub.catalog("token" -> "t0ken-of-mine").listNamespaces(Vector.empty))
          assert(error.getMessage.contains(key) && error.getMessage.contains(otherServer.uri))
        }
      }
      assert(otherServer.requests.isEmpty)
    }
  }

  test("the error for an invalid response contains the address of the server") {
    val answers = Seq(
      "",
      "<html><body>Welcome</body></html>",
      "null",
      "[]",
      "42",
      "{",
      """{"metadata":""",
      """{"metadata":{}}""",
      """{"metadata":null,"metadata-location":7}""",
      """{"metadata":{"format-version":99}}""",
      """{"metadata-location":"x","metadata":[1,2,3]}""",
      "{\"a\":" * 5000,
      "\u0000\u0001\u0002",
      "\"" + "x" * 100000 + "\""
    )
    withStub { stub =>
      val catalog = stub.catalog("token" -> "t0ken-of-mine")
      answers.foreach { body =>
        stub.on(path)(answer(200, body))
        val error = failure(catalog.load(id))
        assert(error.isInstanceOf[InvalidMetadata] || error.isInstanceOf[Unsupported], body.take(40))
        assert(error.getMessage.contains(stub.uri), body.take(40))
        stub.on("GET /v1/namespaces")(answer(200, body))
        // A JSON object without `namespaces` is a valid, empty listing.
        if (!body.startsWith("{\"metadata")) failure(catalog.listNamespaces(Vector.empty))
      }
      stub.on("GET /v1/namespaces")(json("""{"namespaces":[[1]]}"""))
      failure(catalog.listNamespaces(Vector.empty))
    }
    answers.foreach { body =>
      withStub { stub =>
        stub.on("GET /v1/config")(answer(200, body))
        // A JSON object without `defaults` and `overrides` is a valid, empty configuration, so such bodies are skipped.
        if (!body.startsWith("{\"metadata")) failure(stub.catalog().listNamespaces(Vector.empty))
      }
    }
  }

  test("the message for a malformed, long or multi-line error response is short and has no control characters") {
    withStub { stub =>
      val bodies = Seq("", "<html>" + "x" * 100000, "[]", """{"error":7}""", """{"error":{"message":7}}""")
      bodies.foreach { body =>
        stub.on(path)(answer(400, body))
        assert(failure(stub.catalog().load(id)).getMessage.contains("400"))
      }
      stub.on(path)(refuse(400, "Bad", "x" * 100000))
      failure(stub.catalog().load(id))
      stub.on(path)(refuse(400, "Bad", "line\\nline\\u0007bell"))
      failure(stub.catalog().load(id))
    }
  }

  test("reading a response stops at the maximum length, compressed or not") {
    withStub { stub =>
      val settings = new RestSettings("lite", Map("uri" -> stub.uri))
      val transport = new JdkTransport(settings, maxBytes = 10000)
      val endless = new Reply {
        override def send(exchange: HttpExchange): Unit = {
          exchange.sendResponseHeaders(200, 0)
          val part = new Array[Byte](1000)
          try while (true) exchange.getResponseBody.write(part)
          catch { case _: java.io.IOException => () }
        }
      }
      stub.on("GET /endless")(endless)
      val gzipped = new java.io.ByteArrayOutputStream
      val zip = new java.util.zip.GZIPOutputStream(gzipped)
      zip.write(new Array[Byte](1 << 20))
      zip.close()
      assert(gzipped.size < 10000)
      stub.on("GET /bomb")(bytes(200, gzipped.toByteArray).withHeader("Content-Encoding" -> "gzip"))
      stub.on("GET /cut")(bytes(200, gzipped.toByteArray.take(30)).withHeader("Content-Encoding" -> "gzip"))
      Seq("endless", "bomb").foreach { page =>
        val result = transport.send(HttpCall("GET", java.net.URI.create(s"${stub.uri}/$page")))
        assert(result == SendResult.NoResponse("its response is longer than 10000 bytes"), page)
      }
      assert(
        transport.send(HttpCall("GET", java.net.URI.create(s"${stub.uri}/cut"))).isInstanceOf[SendResult.NoResponse]
      )
    }
  }

  test("a server that sends its response slowly is limited by the request timeout") {
    withStub { stub =>
      val stop = new java.util.concurrent.CountDownLatch(1)
      val slow = new Reply {
        override def send(exchange: HttpExchange): Unit = {
          exchange.sendResponseHeaders(200, 0)
          try
            while (!stop.await(20, java.util.concurrent.TimeUnit.MILLISECONDS)) {
              exchange.getResponseBody.write(' ')
              exchange.getResponseBody.flush()
            }
          catch { case _: java.io.IOException => () }
        }
      }
      val silent = new Reply {
        override def send(exchange: HttpExchange): Unit = {
          stop.await()
          ()
        }
      }
      stub.on("GET /v1/namespaces")(slow, silent)
      val catalog = stub.catalog("rest.client.socket-timeout-ms" -> "1000", "rest.client.max-retries" -> "1")
      try assert(failure(catalog.listNamespaces(Vector.empty)).getMessage.contains("1000 ms"))
      finally stop.countDown()
      // The stub may record a request after the client has given it up.
      eventually(assert(stub.lines.size == 2))
    }
  }

  test("the error for an unreachable server says that there is no connection or that the host name is unknown") {
    withStub { stub =>
      def error(uri: String) =
        failure(stub.catalog("uri" -> uri, "rest.client.max-retries" -> "1").listNamespaces(Vector.empty))
      RefusingPort.use(port => assert(error(s"http://127.0.0.1:$port").getMessage.contains("no connection")))
      assert(error("http://no-such-host.invalid").getMessage.contains("host name is unknown"))
    }
  }

  test("a server with an untrusted certificate is rejected", Slow) {
    TlsStub.withStub { (uri, requests) =>
      withStub { stub =>
        val error = failure(stub.catalog("uri" -> uri, "token" -> "t0ken-of-mine").listNamespaces(Vector.empty))
        assert(error.getMessage.contains("no secure connection"))
        assert(requests.get == 0)
      }
    }
  }

  test("secrets are masked in error messages if the server repeats them in a response") {
    withStub { stub =>
      stub.on(path)(refuse(400, "Bad", "the header was Bearer t0ken-of-mine"))
      assert(failure(stub.catalog("token" -> "t0ken-of-mine").load(id)).getMessage.contains("***"))
      stub.on("POST /v1/oauth/tokens")(answer(
        401,
        """{"error":"invalid_client","error_description":"no s3cret-of-mine"}"""
      ))
      failure(stub.catalog("credential" -> "me:s3cret-of-mine").load(id))
      stub.on("POST /v1/oauth/tokens")(answer(200, "s3cret-of-mine t0ken-of-mine"))
      failure(stub.catalog("credential" -> "me:s3cret-of-mine").load(id))
      stub.on("POST /v1/oauth/tokens")(json("""{"access_token":["t0ken-of-mine"]}"""))
      failure(stub.catalog("credential" -> "me:s3cret-of-mine").load(id))
      val basic =
        Seq("rest.auth.type" -> "basic", "rest.auth.basic.username" -> "me", "rest.auth.basic.password" -> "pa55word")
      val encoded = java.util.Base64.getEncoder.encodeToString("me:pa55word".getBytes("UTF-8"))
      stub.on(path)(refuse(400, "Bad", s"pa55word $encoded"))
      assert(!failure(stub.catalog(basic: _*).load(id)).getMessage.contains(encoded))
      val header = "header.X-Api-Key" -> "pa55word"
      assert(failure(stub.catalog(header).load(id)).getMessage.contains("***"))
    }
  }

  test("a header with a line break is rejected, and its value is not shown") {
    withStub { stub =>
      val headers = Seq("header.x" -> "a\r\npa55word: b", "header.x\r\ny" -> "pa55word", "header.Host" -> "pa55word")
      headers.foreach(header => assert(failure(stub.catalog(header).load(id)).isInstanceOf[InvalidArgument], header._1))
      failure(stub.catalog("token" -> "t0ken-of-mine\r\nX: y").load(id))
      assert(stub.requests.isEmpty)
    }
  }

  test("the result of toString of settings, requests and catalogs contains no secrets") {
    withStub { stub =>
      val properties = Map("uri" -> stub.uri, "token" -> "t0ken-of-mine", "credential" -> "me:s3cret-of-mine")
      val settings = new RestSettings("lite", properties)
      val call =
        Auth.bearer(HttpCall("GET", java.net.URI.create(s"${stub.uri}/x?token=t0ken-of-mine")), "t0ken-of-mine")
      val texts = Seq(settings.toString, call.toString, stub.catalog(properties.toSeq: _*).toString)
      assert(!texts.exists(s => secrets.exists(s.contains)))
    }
  }
}
