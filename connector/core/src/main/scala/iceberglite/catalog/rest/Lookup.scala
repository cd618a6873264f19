package iceberglite.catalog.rest

import iceberglite.spec.IcebergError

/**
 * Sends requests for objects that may not exist. If a proxy responds with status 404, an error is thrown, because the
 * response does not show whether the object exists in the catalog. Responses to HEAD requests have no body by which a
 * proxy could be recognized, so their status 404 always means that the object does not exist.
 */
private[catalog] object Lookup {

  /** Sends a request. @return absent if the catalog reports that the object does not exist */
  def find(server: RestServer, request: RestRequest): Option[RestResponse] =
    findWithErrors(server, request)(PartialFunction.empty)

  /** Sends a request. @param errors the errors for rejections with a specific meaning, including some 404 responses */
  def findWithErrors(
      server: RestServer,
      request: RestRequest
  )(errors: PartialFunction[RestFailure, IcebergError]): Option[RestResponse] = {
    val (client, prepared) = (server.client, server.prepare(request))
    client.exchange(prepared) match {
      case Outcome.Succeeded(response) => Some(response)
      case Outcome.Rejected(response, earlierOutcomeUnknown) =>
        val failure = client.failureOf(response, earlierOutcomeUnknown)
        val isSpecific = client.isUncertain(prepared, failure) || errors.isDefinedAt(failure)
        if (isMissing(failure, prepared) && !isSpecific) None
        else throw client.rejection(prepared, failure)(errors)
      case Outcome.Unsent(reason) => throw client.storageFailed(request.what, reason)
      case Outcome.Unknown(reason) => throw client.unanswered(request, reason)
    }
  }

  /**
   * Whether the response means that the object does not exist. Responses of the catalog have a body with an error type,
   * except for responses to HEAD requests, which have no body.
   */
  private def isMissing(failure: RestFailure, request: RestRequest): Boolean =
    failure.status == 404 && (failure.isFromCatalog || request.endpoint.method == "HEAD")
}
