package iceberglite.servers

import java.io.{BufferedReader, File, InputStreamReader}
import java.nio.file.{Files, Paths}
import java.sql.DriverManager
import java.util.UUID
import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * A server of the Python package in tests/servers, with its connection properties. If this JVM has started the server,
 * the server process exits when its pipe is closed, which happens even if this JVM is killed.
 *
 * @param isShared whether the server that tests/run.py has started is used, if the environment variable
 *   `ICEBERG_LITE_SERVERS` contains its directory
 */
final class Server private[servers] (kind: String, isShared: Boolean) {

  private def startServer: String = {
    val python = new File(".venv/bin/python").getAbsoluteFile
    if (!python.exists) throw new IllegalStateException(s"$python is missing: run make .venv/.ready")
    val process = new ProcessBuilder(python.getPath, "-m", "servers", kind)
      .directory(new File("tests").getAbsoluteFile)
      .redirectError(ProcessBuilder.Redirect.INHERIT)
      .start()
    sys.addShutdownHook(process.getOutputStream.close())
    new BufferedReader(new InputStreamReader(process.getInputStream, "UTF-8")).readLine()
  }

  /** Waits for the connection properties, which tests/run.py writes when the server responds. */
  private def awaitSharedServer(directory: String): String = {
    val file = Paths.get(directory, s"$kind.json")
    val deadline = System.nanoTime + TimeUnit.MINUTES.toNanos(4)
    while (!Files.exists(file) && System.nanoTime < deadline) Thread.sleep(50)
    if (Files.exists(file)) Files.readString(file) else null
  }

  private val values: Map[String, String] = {
    val line = sys.env.get("ICEBERG_LITE_SERVERS").filter(_ => isShared).fold(startServer)(awaitSharedServer)
    if (line == null) throw new IllegalStateException(s"The $kind server did not start. Its error output is above")
    new ObjectMapper().readTree(line).fields.asScala.map(f => f.getKey -> f.getValue.asText).toMap
  }

  def apply(key: String): String = values.getOrElse(
    key,
    throw new NoSuchElementException(s"The $kind server has no property $key, only ${values.keys.mkString(", ")}")
  )
}

final class RestServer(server: Server) {
  def uri: String = server("uri")
  def warehouse: String = server("warehouse")
}

final class HiveServer(server: Server) {

  /** The address of the Metastore, which starts with `thrift://`. */
  def uri: String = server("uri")
  def warehouse: String = server("warehouse")
}

final case class JdbcDatabase(url: String, user: String, password: String)

final class PostgresServer(server: Server) {
  def user: String = server("user")
  def password: String = server("password")

  /** Creates an empty database. */
  def newDatabase(): JdbcDatabase = {
    val name = s"tests_${UUID.randomUUID.toString.replace('-', '_')}"
    val connection = DriverManager.getConnection(server("url"), user, password)
    try connection.createStatement().execute(s"CREATE DATABASE $name")
    finally connection.close()
    JdbcDatabase(s"jdbc:postgresql://${server("host")}:${server("port")}/$name", user, password)
  }
}

final class S3Server(server: Server) {
  def endpoint: String = server("endpoint")
  def accessKey: String = server("access_key")
  def secretKey: String = server("secret_key")

  /** Creates an empty bucket. */
  def newBucket(): String = {
    val name = s"tests-${UUID.randomUUID}"
    val request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(s"$endpoint/$name"))
      .PUT(java.net.http.HttpRequest.BodyPublishers.noBody).build()
    val answer = java.net.http.HttpClient.newHttpClient()
      .send(request, java.net.http.HttpResponse.BodyHandlers.ofString())
    if (answer.statusCode != 200) throw new IllegalStateException(s"Creating the bucket $name failed: ${answer.body}")
    name
  }
}

/**
 * The servers of the test environment. Each server is started on first use and stopped with this JVM, unless
 * tests/run.py has started it.
 */
object Servers {
  lazy val rest: RestServer = new RestServer(new Server("rest", isShared = false))
  lazy val hive: HiveServer = new HiveServer(new Server("hive", isShared = false))
  lazy val postgres: PostgresServer = new PostgresServer(new Server("postgres", isShared = true))
  lazy val s3: S3Server = new S3Server(new Server("s3", isShared = true))
}
