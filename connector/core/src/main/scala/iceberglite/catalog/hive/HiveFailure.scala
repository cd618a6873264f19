package iceberglite.catalog.hive

import org.apache.hadoop.hive.metastore.api.MetaException
import org.apache.thrift.transport.TTransportException
import org.apache.thrift.{TApplicationException, TBase, TException}

import iceberglite.spec.IcebergError.StorageFailed

/** What the failures of a call to the Metastore mean. */
private[hive] object HiveFailure {

  /** The connection broke: nobody knows whether the server did it. Some calls of Hive's client hide it in their own. */
  def isLost(failure: Throwable): Boolean = failure match {
    case _: TTransportException => true
    case wrapped: MetaException => text(wrapped).contains("TTransportException")
    case _ => false
  }

  /** The server answered, so that the connection can be used again. */
  def isAnswer(failure: Throwable): Boolean = failure match {
    case _: TBase[_, _] | _: TApplicationException => !isLost(failure)
    case _ => false
  }

  /** @param what was to be done */
  def storage(what: String, uri: String, failure: TException): StorageFailed =
    StorageFailed(what, s"in the Hive Metastore $uri", text(failure), Some(failure))

  def text(failure: Throwable): String =
    Option(failure.getMessage).filter(_.nonEmpty).getOrElse(failure.getClass.getSimpleName)
}
