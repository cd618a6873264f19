package iceberglite.servers

import java.net.{InetAddress, InetSocketAddress, Socket}

/** A port on which nothing listens. */
object RefusingPort {

  /** Calls the body with a port that refuses connections. No other process can listen on it while the body runs. */
  def use[A](body: Int => A): A = {
    val bound = new Socket
    bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0))
    try body(bound.getLocalPort)
    finally bound.close()
  }
}
