package iceberglite.catalog.rest

import iceberglite.spec.IcebergError

/**
 * Sends requests for objects that may not exist. A 404 response of a proxy is an error, because it does not mean that
 * the object was dropped.
 */
private[catalog] object Missing {

  /** Sends a request. @return absent if the catalog reports that the object does not exist */
  def find(server: RestServer, ask: Ask): Option[Answer] = findOr(server, ask)(PartialFunction.empty)

  /** Sends a request. @param refused the errors for rejections with a specific meaning, also for some 404 responses */
  def findOr(server: RestServer, ask: Ask)(refused: PartialFunction[Refusal, IcebergError]): Option[Answer] =
    server.client.exchange(server.prepared(ask)) match {
      case Outcome.Done(answer) => Some(answer)
      case Outcome.Refused(answer, inDoubt) =>
        val refusal = server.client.refusalOf(answer, inDoubt)
        if (refused.isDefinedAt(refusal)) throw refused(refusal)
        else if (isMissing(refusal, ask)) None
        else throw server.client.error(ask.what, refusal)
      case Outcome.Unsent(reason) => throw server.client.failed(ask.what, reason)
      case Outcome.Unknown(reason) => throw server.client.failed(ask.what, reason)
    }

  /** Whether the object is missing. A response to HEAD has no body with an error type. */
  private def isMissing(refusal: Refusal, ask: Ask): Boolean =
    refusal.status == 404 && (refusal.isOfCatalog || ask.endpoint.method == "HEAD")
}
