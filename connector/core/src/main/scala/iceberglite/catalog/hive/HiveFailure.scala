package iceberglite.catalog.hive

import org.apache.hadoop.hive.metastore.api.MetaException
import org.apache.thrift.transport.TTransportException
import org.apache.thrift.{TApplicationException, TBase, TException}

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.StorageFailed

/** Interprets failures of calls to the Metastore. */
private[hive] object HiveFailure {

  /**
   * Whether the connection broke, so that the outcome of the call is unknown. Some methods of Hive's client wrap this
   * failure in a `MetaException`.
   */
  def isConnectionLost(failure: Throwable): Boolean = failure match {
    case _: TTransportException => true
    case wrapped: MetaException => text(wrapped).contains("TTransportException")
    case _ => false
  }

  /** Whether the failure is a response of the server, so that the connection can be reused. */
  def isResponse(failure: Throwable): Boolean = failure match {
    case _: TBase[_, _] | _: TApplicationException => !isConnectionLost(failure)
    case _ => false
  }

  /** Converts a failure of a call. @param what the operation that failed, for the message */
  def toStorageFailed(what: String, uri: String, failure: TException): StorageFailed =
    StorageFailed(s"$what in", Place.HiveMetastore(uri), text(failure), Some(failure))

  def text(failure: Throwable): String =
    Option(failure.getMessage).filter(_.nonEmpty).getOrElse(failure.getClass.getSimpleName)
}
