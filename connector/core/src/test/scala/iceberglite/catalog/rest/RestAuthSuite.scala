package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{Base64, UUID}
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.table.NewTable
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{Change, TableIdentifier}
import iceberglite.table.TestTables.schema

/** Tests the authentication of requests to a REST catalog. */
class RestAuthSuite extends AnyFunSuite {
  private val noNamespaces = json("""{"namespaces":[]}""")
  private val tokens = "POST /v1/oauth/tokens"
  private val accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

  private def token(value: String, seconds: Long): Reply =
    json(s"""{"access_token":"$value","token_type":"bearer","expires_in":$seconds}""")

  private def form(request: Request): Map[String, String] = request.body.split('&').map { pair =>
    val Array(key, value) = pair.split("=", 2)
    key -> java.net.URLDecoder.decode(value, "UTF-8")
  }.toMap

  private def authorizations(stub: StubServer): Vector[Option[String]] =
    stub.requests.filterNot(_.target.contains("oauth")).map(_.headers.get("authorization"))

  test("without a token no authentication is sent, and a configured token is sent with every request") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces)
      stub.catalog().listNamespaces(Vector.empty)
      stub.catalog("token" -> "abc").listNamespaces(Vector.empty)
      assert(authorizations(stub) == Vector(None, None, Some("Bearer abc"), Some("Bearer abc")))
      assert(stub.requests.size == 4, "a token whose expiration is unknown must not be exchanged immediately")
    }
  }

  test("basic authentication sends user and password") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces)
      val basic =
        Seq("rest.auth.type" -> "basic", "rest.auth.basic.username" -> "me", "rest.auth.basic.password" -> "ö:x")
      stub.catalog(basic: _*).listNamespaces(Vector.empty)
      val expected = "Basic " + Base64.getEncoder.encodeToString("me:ö:x".getBytes(UTF_8))
      assert(authorizations(stub).flatten.distinct == Vector(expected))
    }
  }

  test("a credential is exchanged for a token only once, with the configured scope and parameters") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(token("t1", 3600))
      val catalog =
        stub.catalog("credential" -> "me: s3:cret", "scope" -> "a b", "audience" -> "x&y", "resource" -> "r")
      catalog.listNamespaces(Vector.empty)
      catalog.listNamespaces(Vector.empty)
      val exchanges = stub.requests.filter(_.target.contains("oauth"))
      assert(exchanges.size == 1 && exchanges.head.headers("content-type") == "application/x-www-form-urlencoded")
      assert(form(exchanges.head) == Map(
        "grant_type" -> "client_credentials",
        "client_id" -> "me",
        "client_secret" -> "s3:cret",
        "scope" -> "a b",
        "audience" -> "x&y",
        "resource" -> "r"
      ))
      assert(authorizations(stub).flatten.distinct == Vector("Bearer t1"))
    }
  }

  test("a credential may consist of a secret only, and tokens are requested from the configured token server") {
    withStub { stub =>
      withStub { other =>
        stub.on("GET /v1/namespaces")(noNamespaces)
        other.on("POST /realm/token")(token("t1", 3600))
        stub.catalog("credential" -> "s3cret", "oauth2-server-uri" -> s"${other.uri}/realm/token").listNamespaces(
          Vector.empty
        )
        assert(form(other.requests.last) ==
          Map("grant_type" -> "client_credentials", "client_secret" -> "s3cret", "scope" -> "catalog"))
        assert(authorizations(stub).flatten.distinct == Vector("Bearer t1"))
      }
    }
  }

  test("a token of a type that is not sent as a bearer token is rejected") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces)
      def list(tokenType: String) = {
        stub.on(tokens)(json(s"""{"access_token":"t1"$tokenType}"""))
        stub.catalog("credential" -> "me:s3cret").listNamespaces(Vector.empty)
      }
      Seq(""","token_type":"Bearer"""", ""","token_type":"N_A"""", "").foreach(kind => assert(list(kind).isEmpty))
      val error = intercept[StorageFailed](list(""","token_type":"mac""""))
      assert(error.reason.contains("type mac") && !error.getMessage.contains("t1"))
    }
  }

  test("a token is exchanged before it expires, and the new token is sent") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(token("t1", 1000), token("t2", 1000))
      val catalog = stub.catalog("credential" -> "me:s3cret")
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 899000
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 1000
      catalog.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten == Vector("Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2"))
      val exchange = stub.requests.filter(_.target.contains("oauth")).last
      assert(exchange.headers("authorization") == "Bearer t1")
      assert(form(exchange) == Map(
        "grant_type" -> "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token" -> "t1",
        "subject_token_type" -> accessTokenType,
        "scope" -> "catalog"
      ))
    }
  }

  test("token-expires-in-ms is the lifetime of a configured token that is not a JWT") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(token("t2", 1000))
      val catalog = stub.catalog("token" -> "abc", "token-expires-in-ms" -> "1000000")
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 890000
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 100000
      catalog.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten.last == "Bearer t2")
      assert(authorizations(stub).flatten.init.forall(_ == "Bearer abc"))
    }
  }

  test("if token exchange is not supported or disabled, a new token is requested with the credential") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces)
      stub.on(tokens)(
        token("t1", 1000),
        answer(400, """{"error":"unsupported_grant_type"}"""),
        token("t2", 1000),
        token("t3", 1000)
      )
      val catalog = stub.catalog("credential" -> "me:s3cret")
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 950000
      catalog.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten.last == "Bearer t2")
      val without = stub.catalog(
        "credential" -> "me:s3cret",
        "token" -> jwt(stub.nowMs / 1000 + 5),
        "token-exchange-enabled" -> "false"
      )
      stub.nowMs += 5000
      without.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten.last == "Bearer t3")
      assert(form(stub.requests.filter(_.target.contains("oauth")).last)("grant_type") == "client_credentials")
    }
  }

  private def jwt(expiresAt: Long): String = {
    def part(text: String) = Base64.getUrlEncoder.withoutPadding.encodeToString(text.getBytes(UTF_8))
    s"${part("{}")}.${part(s"""{"exp":$expiresAt}""")}.x"
  }

  test("a JWT is exchanged shortly before its expiration, and is still sent if the exchange fails") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(answer(400, """{"error":"invalid_request"}"""))
      val webToken = jwt(stub.nowMs / 1000 + 100)
      val catalog = stub.catalog("token" -> webToken)
      stub.nowMs += 95000
      catalog.listNamespaces(Vector.empty)
      catalog.listNamespaces(Vector.empty)
      assert(stub.requests.count(_.target.contains("oauth")) == 1, "the exchange must be tried only once")
      assert(authorizations(stub).flatten.distinct == Vector(s"Bearer $webToken"))
      val fixed = stub.catalog("token" -> webToken, "token-refresh-enabled" -> "false")
      fixed.listNamespaces(Vector.empty)
      assert(stub.requests.count(_.target.contains("oauth")) == 1)
    }
  }

  test("a failed exchange is tried again after half a minute") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces)
        .on(tokens)(answer(400, """{"error":"invalid_request"}"""), token("exchanged", 3600))
      val webToken = jwt(stub.nowMs / 1000 + 1000)
      val catalog = stub.catalog("token" -> webToken)
      stub.nowMs += 910000
      catalog.listNamespaces(Vector.empty)
      stub.nowMs += 31000
      catalog.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten.last == "Bearer exchanged")
    }
  }

  test("a token whose lifetime is the largest number is requested once") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(token("t1", Long.MaxValue))
      val catalog = stub.catalog("credential" -> "me:s3cret")
      (1 to 3).foreach(_ => catalog.listNamespaces(Vector.empty))
      assert(stub.requests.count(_.target.contains("oauth")) == 1)
    }
  }

  test("if the server rejects the token of a table, the valid token of the catalog is sent, and not replaced") {
    withStub { stub =>
      val id = TableIdentifier(Vector("db"), "t")
      val metadata =
        NewTable(schema, Vector.empty, Vector.empty, "mem://wh/db/t", Map.empty).metadata(new UUID(0, 7), 1000L)
      val loaded = table(metadata, "mem://wh/db/t/metadata/0.metadata.json", ""","config":{"token":"of-table"}""")
      stub.on(tokens)(token("t1", 3600), token("t2", 3600)).on("GET /v1/namespaces/db/tables/t")(loaded)
        .on("POST /v1/namespaces/db/tables/t")(refuse(401, "NotAuthorizedException", "expired of-table"), loaded)
      val catalog = stub.catalog("credential" -> "me:s3cret")
      catalog.commit(id, Some(catalog.load(id)), Change(Vector(SetProperties(Map("a" -> "b"))), Vector.empty))
      assert(authorizations(stub).flatten.takeRight(2) == Vector("Bearer of-table", "Bearer t1"))
      assert(stub.requests.count(_.target.contains("oauth")) == 1)
      stub.on("POST /v1/namespaces/db/tables/t")(refuse(403, "ForbiddenException", "no access with of-table"))
      val change = Change(Vector(SetProperties(Map("a" -> "b"))), Vector.empty)
      val error = intercept[IcebergError](catalog.commit(id, Some(catalog.load(id)), change)).toString
      assert(error.contains("no access") && !error.contains("of-table"))
    }
  }

  test("a token that the server rejects is replaced once, and the request is sent again") {
    withStub { stub =>
      stub.on(tokens)(token("t1", 3600), token("t2", 3600), token("t3", 3600))
      stub.on("GET /v1/namespaces")(refuse(401, "NotAuthorizedException", "old"), noNamespaces)
      val catalog = stub.catalog("credential" -> "me:s3cret")
      catalog.listNamespaces(Vector.empty)
      assert(authorizations(stub).flatten == Vector("Bearer t1", "Bearer t1", "Bearer t2"))
      stub.on("GET /v1/namespaces")(refuse(419, "AuthenticationTimeoutException", "old"))
      val error = intercept[StorageFailed](catalog.listNamespaces(Vector.empty))
      assert(error.getMessage.contains("credential") && authorizations(stub).flatten.last == "Bearer t3")
    }
  }

  test("configured headers are sent with every request, and override headers that the catalog sets") {
    withStub { stub =>
      stub.on("GET")(refuse(404, "NoSuchTableException", "none")).on("GET /v1/config")(json("{}"))
      val headers = Seq("header.X-Iceberg-Access-Delegation" -> "remote-signing", "header.X-Tenant" -> "me")
      intercept[NotFound](stub.catalog(headers: _*).load(TableIdentifier(Vector("db"), "t")))
      intercept[NotFound](stub.catalog().load(TableIdentifier(Vector("db"), "t")))
      val Vector(configured, default) = stub.requests.filter(_.target.contains("tables")).map(_.headers)
      assert(configured("x-iceberg-access-delegation") == "remote-signing" && configured("x-tenant") == "me")
      assert(default("x-iceberg-access-delegation") == "vended-credentials")
      assert(configured("user-agent") == "iceberg-lite")
    }
  }

  test("configured headers are sent with token requests to the same server, and not to another one") {
    withStub { stub =>
      withStub { other =>
        Seq(stub, other).foreach(_.on("POST")(token("t1", 3600)))
        stub.on("GET /v1/namespaces")(noNamespaces)
        val settings = Seq("credential" -> "me:s3cret", "header.Realm" -> "r2")
        stub.catalog(settings: _*).listNamespaces(Vector.empty)
        stub.catalog(settings :+ ("oauth2-server-uri" -> s"${other.uri}/token"): _*).listNamespaces(Vector.empty)
        assert(stub.requests.find(_.target.contains("oauth")).exists(_.headers.get("realm").contains("r2")))
        assert(other.requests.nonEmpty && other.requests.forall(!_.headers.contains("realm")))
      }
    }
  }

  test("sigv4 signs path, query, headers and body, and sends the delegate's token as original-authorization") {
    withStub { stub =>
      stub.on("POST /v1/namespaces/n%201/properties")(json("{}")).on("GET /v1/namespaces")(noNamespaces)
      val keys =
        Seq("rest.access-key-id" -> "AKIA", "rest.secret-access-key" -> "aws-s3cret", "rest.session-token" -> "st")
      val settings = Seq("rest.auth.type" -> "sigv4", "rest.signing-region" -> "eu-west-1", "token" -> "t1") ++ keys
      val catalog = stub.catalog(settings :+ ("rest-page-size" -> "7"): _*)
      catalog.alterNamespace(Vector("n 1"), Map("a" -> "ö"), Set.empty)
      catalog.listNamespaces(Vector.empty)
      assert(stub.requests.size == 3)
      stub.requests.foreach { request =>
        assert(
          request.headers("original-authorization") == "Bearer t1" && request.headers("x-amz-security-token") == "st"
        )
        assert(request.headers("x-amz-content-sha256") == hex(sha256(request.body.getBytes(UTF_8))))
        assert(request.headers("authorization") == expected(request, "AKIA", "aws-s3cret", "eu-west-1", "execute-api"))
      }
      val direct =
        stub.catalog(settings ++ Seq("rest.auth.sigv4.delegate-auth-type" -> "none", "rest.signing-name" -> "glue"): _*)
      direct.listNamespaces(Vector.empty)
      assert(!stub.requests.last.headers.contains("original-authorization"))
      assert(stub.requests.last.headers("authorization").contains("/eu-west-1/glue/aws4_request"))
    }
  }

  test("with sigv4, a token of the delegate that the server rejects is replaced") {
    withStub { stub =>
      stub.on(tokens)(token("t1", 3600), token("t2", 3600))
        .on("GET /v1/namespaces")(refuse(401, "NotAuthorizedException", "old"), noNamespaces)
      val keys = Seq("rest.access-key-id" -> "AKIA", "rest.secret-access-key" -> "aws-s3cret")
      val settings = Seq("rest.auth.type" -> "sigv4", "rest.signing-region" -> "eu-west-1", "credential" -> "me:s3cret")
      stub.catalog(settings ++ keys: _*).listNamespaces(Vector.empty)
      val sent = stub.requests.filter(_.target.startsWith("/v1/namespaces")).map(_.headers("original-authorization"))
      assert(sent == Vector("Bearer t1", "Bearer t2"))
    }
  }

  test("a configured token without an expiration time is sent as long as the server accepts it") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(noNamespaces).on(tokens)(answer(400, """{"error":"invalid_request"}"""))
      val catalog = stub.catalog("token" -> "abc")
      for (_ <- 1 to 3) {
        stub.nowMs += 3600000
        catalog.listNamespaces(Vector.empty)
      }
      assert(authorizations(stub).flatten.distinct == Vector("Bearer abc"))
    }
  }

  /** Computes the signature (AWS SigV4) of a request that the server received, as the AWS documentation describes. */
  private def expected(request: Request, key: String, secret: String, region: String, service: String): String = {
    val sent = request.headers("authorization")
    val signed = sent.split("SignedHeaders=")(1).takeWhile(_ != ',')
    val (path, query) = request.target.span(_ != '?')
    val canonicalPath = path.split("/", -1).map(s => java.net.URLEncoder.encode(s, "UTF-8")).mkString("/")
    val canonicalQuery = query.drop(1).split('&').sorted.mkString("&")
    val headers = signed.split(';').map(h => s"$h:${request.headers(h).trim}\n").mkString
    val canonical =
      Seq(request.method, canonicalPath, canonicalQuery, headers, signed, request.headers("x-amz-content-sha256"))
    val date = request.headers("x-amz-date")
    val scope = s"${date.take(8)}/$region/$service/aws4_request"
    val text = s"AWS4-HMAC-SHA256\n$date\n$scope\n${hex(sha256(canonical.mkString("\n").getBytes(UTF_8)))}"
    val signing = Seq(date.take(8), region, service, "aws4_request").foldLeft(s"AWS4$secret".getBytes(UTF_8))(hmac)
    s"AWS4-HMAC-SHA256 Credential=$key/$scope, SignedHeaders=$signed, Signature=${hex(hmac(signing, text))}"
  }

  private def sha256(bytes: Array[Byte]): Array[Byte] = MessageDigest.getInstance("SHA-256").digest(bytes)
  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"$b%02x").mkString

  private def hmac(key: Array[Byte], text: String): Array[Byte] = {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(new SecretKeySpec(key, "HmacSHA256"))
    mac.doFinal(text.getBytes(UTF_8))
  }

  test("a configuration with only one of the two sigv4 keys is rejected") {
    withStub { stub =>
      val withoutSecretKey = Seq("rest.auth.type" -> "sigv4", "rest.access-key-id" -> "AKIA")
      val error = intercept[InvalidArgument](stub.catalog(withoutSecretKey: _*))
      assert(error.getMessage.contains("rest.secret-access-key"))
    }
  }
}
