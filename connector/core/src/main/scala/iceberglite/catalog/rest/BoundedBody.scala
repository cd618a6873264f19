package iceberglite.catalog.rest

import java.io.{ByteArrayOutputStream, IOException}
import java.net.http.HttpResponse.BodySubscriber
import java.nio.ByteBuffer
import java.util
import java.util.concurrent.Flow.Subscription
import java.util.concurrent.{CompletableFuture, CompletionStage}

import scala.collection.JavaConverters._

/**
 * Receives the body of a response, and aborts the response if the body is too long.
 *
 * @param maxBytes maximum length of the body in bytes
 */
final private[catalog] class BoundedBody(maxBytes: Int) extends BodySubscriber[Array[Byte]] {
  private val result = new CompletableFuture[Array[Byte]]
  private val bytes = new ByteArrayOutputStream
  private var source = Option.empty[Subscription]
  private var cancelled = false

  override def getBody: CompletionStage[Array[Byte]] = result

  override def onSubscribe(subscription: Subscription): Unit = {
    val isCancelled = synchronized {
      source = Some(subscription)
      cancelled
    }
    if (isCancelled) subscription.cancel() else subscription.request(Long.MaxValue)
  }

  override def onNext(buffers: util.List[ByteBuffer]): Unit = if (!result.isDone) {
    if (bytes.size.toLong + buffers.asScala.iterator.map(_.remaining.toLong).sum > maxBytes) {
      result.completeExceptionally(BoundedBody.tooLong(maxBytes))
      cancel()
    } else buffers.asScala.foreach { buffer =>
      val copy = new Array[Byte](buffer.remaining)
      buffer.get(copy)
      bytes.write(copy, 0, copy.length)
    }
  }

  override def onError(failure: Throwable): Unit = {
    result.completeExceptionally(failure)
    ()
  }

  override def onComplete(): Unit = {
    result.complete(bytes.toByteArray)
    ()
  }

  /** Stops reading the body, and closes the connection. */
  def cancel(): Unit = {
    val subscription = synchronized {
      cancelled = true
      source
    }
    subscription.foreach(_.cancel())
  }
}

private[catalog] object BoundedBody {
  def tooLong(maxBytes: Int): IOException = new IOException(s"its response is longer than $maxBytes bytes")
}
