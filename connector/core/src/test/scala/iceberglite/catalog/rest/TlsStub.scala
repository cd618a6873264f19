package iceberglite.catalog.rest

import java.net.{InetAddress, InetSocketAddress}
import java.nio.file.{Files, Paths}
import java.security.KeyStore
import java.util.concurrent.atomic.AtomicInteger
import javax.net.ssl.{KeyManagerFactory, SSLContext}

import com.sun.net.httpserver.{HttpsConfigurator, HttpsServer}

/** An HTTPS server with a self-signed certificate. */
object TlsStub {
  private val password = "password"

  /** Runs `body` with the address of a server and a counter of the requests that it has received. */
  def withStub[A](body: (String, AtomicInteger) => A): A = {
    val requests = new AtomicInteger
    val server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.setHttpsConfigurator(new HttpsConfigurator(context()))
    server.createContext(
      "/",
      exchange => {
        requests.incrementAndGet()
        exchange.sendResponseHeaders(204, -1)
        exchange.close()
      }
    )
    server.start()
    try body(s"https://127.0.0.1:${server.getAddress.getPort}", requests)
    finally server.stop(0)
  }

  private def context(): SSLContext = {
    val keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    keys.init(keyStore(), password.toCharArray)
    val context = SSLContext.getInstance("TLS")
    context.init(keys.getKeyManagers, null, null)
    context
  }

  private def keyStore(): KeyStore = {
    val file = Files.createTempDirectory("keys").resolve("keys.p12")
    val keytool = Paths.get(System.getProperty("java.home"), "bin", "keytool").toString
    val options = Seq("-genkeypair", "-keyalg", "RSA", "-storetype", "PKCS12", "-dname", "CN=127.0.0.1", "-alias", "a")
    val command = (keytool +: options) ++ Seq("-storepass", password, "-keystore", file.toString)
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).start()
    val output = new String(process.getInputStream.readAllBytes(), "UTF-8")
    if (process.waitFor() != 0) throw new IllegalStateException(output)
    val store = KeyStore.getInstance("PKCS12")
    val in = Files.newInputStream(file)
    try store.load(in, password.toCharArray)
    finally in.close()
    store
  }
}
