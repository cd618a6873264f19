package iceberglite.catalog.hive

import java.io.{InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket, URI}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

/** A network proxy between a client and a Metastore. It applies network faults to the calls that a test selects. */
final class ThriftProxy(uri: String) extends AutoCloseable {
  import ThriftProxy._

  private val target = URI.create(uri)
  private val listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val sockets = ConcurrentHashMap.newKeySet[Socket]()
  @volatile private var faults = Vector.empty[(String, Fault)]
  @volatile private var called = Vector.empty[String]

  def address: String = s"thrift://127.0.0.1:${listener.getLocalPort}"

  /** Applies a fault to the next call of the given method. The fault applies only once. */
  def next(call: String, fault: Fault): Unit = synchronized(faults :+= call -> fault)

  /** The method names of all calls so far. */
  def calls: Vector[String] = called

  daemon(accept())

  private def accept(): Unit = {
    val client = listener.accept()
    val server = new Socket(target.getHost, target.getPort)
    Seq(client, server).foreach { socket =>
      socket.setTcpNoDelay(true)
      sockets.add(socket)
    }
    new Connection(client, server)
    accept()
  }

  final private class Connection(client: Socket, server: Socket) {
    @volatile private var dropsResponse = false

    daemon(forward(client.getInputStream, server.getOutputStream)(onRequest))
    daemon(forward(server.getInputStream, client.getOutputStream)(_ => dropsResponse && hangUp()))

    /** Applies the fault that is planned for the called method, if any. @return whether to drop the request */
    private def onRequest(bytes: String): Boolean = nameOf(bytes).fold(false) { name =>
      ThriftProxy.this.synchronized(called :+= name)
      take(name) match {
        case None => false
        case Some(Before) => hangUp()
        case Some(After) =>
          dropsResponse = true
          false
        case Some(RunFirst(work)) =>
          work()
          false
      }
    }

    private def hangUp(): Boolean = {
      Seq(client, server).foreach(socket => Try(socket.close()))
      true
    }
  }

  private def take(name: String): Option[Fault] = synchronized {
    val found = faults.find(_._1 == name)
    found.foreach(fault => faults = faults.diff(Vector(fault)))
    found.map(_._2)
  }

  override def close(): Unit = {
    listener.close()
    sockets.forEach(socket => { Try(socket.close()); () })
  }

  private def forward(from: InputStream, to: OutputStream)(drops: String => Boolean): Unit = {
    val buffer = new Array[Byte](1 << 16)
    def step(): Boolean = {
      val count = from.read(buffer)
      count >= 0 && !drops(new String(buffer, 0, count, ISO_8859_1)) && {
        to.write(buffer, 0, count)
        to.flush()
        true
      }
    }
    while (step()) {}
    to.close()
  }

  private def daemon(work: => Unit): Unit = {
    val thread = new Thread(() => { Try(work); () })
    thread.setDaemon(true)
    thread.start()
  }
}

object ThriftProxy {

  /** What happens to a call: the connection breaks, or an action runs first. */
  sealed trait Fault

  /** The connection breaks before the server receives the call. */
  case object Before extends Fault

  /** The server executes the call, and its response is lost. */
  case object After extends Fault

  /** Runs `work` before the server receives the call. */
  final case class RunFirst(work: () => Unit) extends Fault

  /**
   * Returns the method name of a message. In Thrift's binary protocol, the name follows the version, the message type
   * and the length of the name.
   */
  private def nameOf(bytes: String): Option[String] =
    if (!bytes.startsWith("\u0080\u0001\u0000") || bytes.length < 8) None
    else Some(bytes.slice(8, 8 + bytes.charAt(6) * 256 + bytes.charAt(7)))
}
